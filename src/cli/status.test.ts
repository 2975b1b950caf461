import { describe, expect, it } from 'vitest'
import { Arrangement } from '../core/placement/arrangement.js'
import { nodeName } from '../core/ids.js'
import { BalanceCluster } from '../../sim/balance/cluster.js'
import { CurrentRules } from '../core/placement/current.js'
import type { BucketStatus, MoveStatus, NodeStatus, Status } from '../runtime/status.js'
import { mergeStatus } from '../runtime/cluster-status.js'
import { formatBytes, formatStatus, formatSummary } from './cluster-status.js'
import { explainStatus, formatExplanation } from './status-explain.js'
import { lettersOf } from './status-map.js'
import { arrangementOf, countRemaining } from './status-model.js'
import { drawBar, PLAIN, styleFor, widthOf, type Style } from './status-style.js'
import { Rebalance } from './status-watch.js'

const FINE: Style = { colour: true, fine: true, columns: 100 }

interface Wish {
  readonly buckets?: number
  readonly nodes?: readonly Partial<NodeStatus>[]
  readonly rows?: (bucket: number) => Partial<BucketStatus>
  readonly moves?: readonly MoveStatus[]
  readonly more?: Partial<Status>
}

/** Two nodes that share the buckets alternately, unless told otherwise. */
function statusOf({ buckets = 16, nodes = [{}, {}], rows, moves = [], more = {} }: Wish): Status {
  const names = nodes.map(({ name }, i) => name ?? 'abcdefghijklmnop'[i])
  const list = Array.from({ length: buckets }, (_, id): BucketStatus => {
    const primary = names[id % 2]
    const backups = [names[(id + 1) % 2]]
    return { id, primary, backups, epoch: 1, state: 'ok', items: 1, ...rows?.(id) }
  })
  return {
    node: names[0],
    version: '1',
    cluster: '0000002a',
    mask: '0x000F',
    copies: 2,
    splitAt: 0,
    policy: 'majority',
    balanced: true,
    serving: true,
    withoutBackup: 0,
    lost: 0,
    buckets: list,
    moves,
    nodes: nodes.map((node, i) => ({
      name: names[i],
      resp: `127.0.0.1:1360${i}`,
      http: null,
      state: 'alive',
      primaries: list.filter(({ primary }) => primary === names[i]).length,
      backups: list.filter(({ backups }) => backups.includes(names[i])).length,
      items: 8,
      bytes: 5000,
      weight: 1,
      zone: '',
      ...node
    })),
    ...more
  }
}

const MOVE: MoveStatus = {
  bucket: 3,
  from: 'b',
  to: 'c',
  kind: 'primary',
  stage: 'copy',
  sent: 50,
  total: 200,
  reason: 'c has less'
}

describe('status as text', () => {
  it('is a line a node and the picture of the documents for 16 buckets, without any colour', () => {
    const text = formatStatus(statusOf({})).join('\n')
    expect(text).toContain('cluster 0000002a, 16 buckets, 2 copies, balanced')
    expect(text).toMatch(/^a +127\.0\.0\.1:13600 +alive +8 +8 +16 +16 +8 +4\.9k +#+=+/m)
    expect(text).toContain(' | #0 - P | | #0 - S |\n | #1 - S | | #1 - P |')
    expect(text).toContain('8+8=16')
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]|[^\u0000-\u007f]/)
  })

  it('is the same text in colour', () => {
    const [plain, painted] = [PLAIN, { ...PLAIN, colour: true }].map((style) =>
      formatStatus(statusOf({}), style)
    )
    expect(painted.join('\n')).toContain('\u001b[32mP\u001b[0m')
    expect(painted.map(widthOf)).toEqual(plain.map((line) => line.length))
  })

  it('draws more buckets as bands of a line a node, with the letters of the dashboard', () => {
    const status = statusOf({
      buckets: 256,
      nodes: [{}, {}, {}],
      moves: [MOVE],
      rows: (id) => (id === 5 ? { backups: [], state: 'without-backup' } : {})
    })
    const lines = formatStatus(status)
    expect(lines).toContain(
      'a  PBPBPBPBPBPBPBPB PBPBPBPBPBPBPBPB PBPBPBPBPBPBPBPB PBPBPBPBPBPBPBPB'.replace(
        'PBPBPBPB',
        'PBPBP.PB'
      )
    )
    expect(lines.find((line) => line.startsWith('b  BPBMBW'))).toBeDefined()
    expect(lines.find((line) => line.startsWith('c  ...A..'))).toBeDefined()
    expect(lines).toContain('   #00              #10              #20              #30')
    expect(lines).toContain('P primary  B backup  M moving  A arriving  W without backup')
    expect(lines.join('\n')).toContain(
      '[######..................] primary 3 b -> c  copy 50/200  c has less'
    )
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  })

  it('draws 4096 buckets of 64 nodes in lines that fit, and trouble wins', () => {
    const names = Array.from({ length: 64 }, (_, i) => `n${i}`)
    const status = statusOf({
      buckets: 4096,
      nodes: names.map((name) => ({ name, state: name === 'n9' ? 'dead' : 'alive' })),
      rows: (id) => ({ primary: names[id % 64], backups: [names[(id + 1) % 64]] })
    })
    const lines = formatStatus(status, FINE)
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(100)
    expect(lines.length).toBeLessThan(140)
    expect(lines.filter((line) => line.includes('a character is 44 buckets'))).toHaveLength(1)
    expect(lines.find((line) => line.startsWith('n9 ') && line.includes('?'))).toBeDefined()
  })

  it('says what is wrong and what to do', () => {
    const status = statusOf({
      nodes: [{}, { state: 'dead' }],
      rows: (id) => (id < 2 ? { state: 'lost' } : {}),
      more: { lost: 5, withoutBackup: 14, balanced: false }
    })
    expect(formatSummary(status)).toBe(
      'cluster 0000002a, 16 buckets, 2 copies, balancing, 14 buckets without a backup, 5 BUCKETS LOST, dead: b'
    )
    const text = formatStatus(status).join('\n')
    expect(text).toContain('2 buckets have no living copy: bring their nodes back')
    expect(text).toContain('3 buckets started empty')
    expect(text).toContain('opencluster forget NAME')
    expect(text).toContain('start another with --join 127.0.0.1:13600')
  })

  it('says that the node that was asked is cut off', () => {
    const status = statusOf({ more: { serving: false } })
    expect(formatSummary(status)).toContain('a SERVES NOTHING')
    expect(formatStatus(status).join('\n')).toContain('a hears no majority of the voters')
  })

  it('has zones and weights where there are any', () => {
    const text = formatStatus(statusOf({ nodes: [{ zone: 'east' }, { weight: 2 }] })).join('\n')
    expect(text).toMatch(/state +zone +weight +primaries/)
    expect(formatStatus(statusOf({})).join('\n')).not.toContain('zone')
  })

  it('counts bytes for people', () => {
    expect([0, 999, 2048, 3_500_000].map(formatBytes)).toEqual(['0', '999', '2.0k', '3.3M'])
  })
})

describe('what several nodes say', () => {
  it('counts a bucket that nobody holds once, and those that started empty where they did', () => {
    const rows = (id: number): Partial<BucketStatus> => (id < 2 ? { state: 'lost' } : {})
    const [a, b, c] = [5, 2, 3].map((lost) => statusOf({ rows, more: { lost } }))
    expect(mergeStatus(a, [b, c]).lost).toBe(6)
  })
})

describe('the letters', () => {
  it('tell lost, pending, moving and alone from each other', () => {
    const status = statusOf({
      nodes: [{}, {}, { state: 'dead' }],
      moves: [{ ...MOVE, bucket: 4, from: 'a', to: 'b', kind: 'role' }],
      rows: (id) => {
        if (id === 0) return { state: 'lost', primary: 'c', backups: [] }
        if (id === 1) return { state: 'pending' }
        if (id === 2) return { primary: 'a', backups: ['c'] }
        return {}
      }
    })
    const letterOf = lettersOf(status)
    const at = (node: string, id: number): string => letterOf(node, status.buckets[id])
    expect([at('c', 0), at('b', 1), at('a', 1), at('c', 2), at('a', 4), at('b', 4)]).toEqual([
      'X',
      '?',
      'B',
      '?',
      'P',
      'B'
    ])
  })
})

describe('the style', () => {
  const terminal = { write: () => true, isTTY: true, columns: 200 }
  it('has colours on a terminal only, and not where they are refused', () => {
    const utf8 = { LANG: 'en_US.UTF-8' }
    expect(styleFor(terminal, utf8)).toEqual({ colour: true, fine: true, columns: 200 })
    expect(styleFor(terminal, { ...utf8, NO_COLOR: '1' }).colour).toBe(false)
    expect(styleFor(terminal, { ...utf8, TERM: 'dumb' }).colour).toBe(false)
    expect(styleFor(terminal, { ...utf8, LC_ALL: 'C' }).fine).toBe(false)
    expect(styleFor({ write: () => true }, utf8)).toEqual(PLAIN)
  })

  it('fills bars by shares and never overflows', () => {
    const parts = [
      { share: 0.5, colour: 'green' },
      { share: 0.25, colour: 'cyan' }
    ] as const
    expect(drawBar(parts, 8, PLAIN)).toBe('####==..')
    expect(drawBar([{ share: 7, colour: 'green' }], 4, PLAIN)).toBe('####')
  })
})

/** A cluster of the pure rules as a status. */
function statusOfCluster(cluster: BalanceCluster): Status {
  const { table } = cluster
  const names = cluster.nodes.map((node) => table.nameOf(node))
  const rows = (id: number): Partial<BucketStatus> => {
    const { primary, backups, epoch } = table.row(id)
    return { primary, backups, epoch }
  }
  return statusOf({ buckets: table.size, nodes: names.map((name) => ({ name })), rows })
}

/** Two nodes, of which the second has just joined. */
function joinTwo(): BalanceCluster {
  const cluster = new BalanceCluster({ buckets: 16, copies: 2, rules: new CurrentRules(), seed: 1 })
  cluster.join('a')
  cluster.join('b')
  return cluster
}

describe('--explain', () => {
  const grow = (): BalanceCluster => {
    const cluster = joinTwo()
    cluster.settle()
    return cluster
  }

  it('says at rest which rules would forbid a move', () => {
    const cluster = grow()
    cluster.join('c')
    cluster.settle()
    const explanation = explainStatus(statusOfCluster(cluster))
    expect(explanation.map(({ node }) => node)).toEqual(['a', 'b', 'c'])
    for (const { towards } of explanation) {
      for (const { action, verdicts } of towards) {
        expect(action).toBeNull()
        const denied = verdicts.filter(({ allow }) => !allow).map(({ rule }) => rule)
        expect(denied).toContain('source-above-quota')
        expect(verdicts.map(({ rule }) => rule)).toContain('target-below-quota')
        expect(verdicts.every(({ reason }) => reason.length > 5)).toBe(true)
      }
    }
  })

  it('says what would be moved to a newcomer, and why, as the planner itself does', () => {
    const cluster = grow()
    cluster.join('c')
    const status = statusOfCluster(cluster)
    const [a] = explainStatus(status)
    expect(a.towards[0]).toMatchObject({ node: 'c', total: 0, share: 10 })
    expect(a.towards[0].action).toMatch(/^move (?:primary|backup) \d+ to c$/)
    expect(a.towards[0].verdicts.every(({ allow }) => allow)).toBe(true)
    const plan = cluster.ask(cluster.nodes[0], cluster.nodes[2])
    expect(a.towards[0].reason).toBe(plan.reason)
    const text = formatExplanation(status, PLAIN).join('\n')
    expect(text).toMatch(
      /-> c {2}move \w+ \d+ to c: a is above its share, c below\n {5}yes one-transfer/
    )
  })

  it('knows who is busy', () => {
    const cluster = grow()
    cluster.join('c')
    const status = { ...statusOfCluster(cluster), moves: [{ ...MOVE, from: 'b', to: 'c' }] }
    const [a] = explainStatus(status)
    const towardsC = a.towards.find(({ node }) => node === 'c')
    expect(towardsC).toMatchObject({ action: null, reason: 'c is already in a transfer' })
  })
})

describe('a rebalance', () => {
  it('is shown by what is left of the most that was out of place', () => {
    const cluster = joinTwo()
    const rebalance = new Rebalance()
    const shown = (): string | undefined => rebalance.describe(statusOfCluster(cluster), PLAIN)
    expect(shown()).toMatch(/^rebalancing \[\.{40}\] 0 % {2}16 copies to ship, 8 primary roles/)
    cluster.step()
    expect(shown()).toMatch(/^rebalancing \[#+\.+\] [1-9]\d? % {2}/)
    cluster.settle()
    expect(shown()).toBeUndefined()
    expect(countRemaining(arrangementOf(statusOfCluster(cluster)))).toEqual({ copies: 0, roles: 0 })
  })

  it('gives the dead and witnesses no share', () => {
    const status = statusOf({ nodes: [{}, { state: 'dead' }, { weight: 0 }] })
    const arrangement = arrangementOf(status)
    expect(arrangement).toBeInstanceOf(Arrangement)
    expect(arrangement.roster.members.map(({ node }) => node)).toEqual([
      arrangement.table.indexOf(nodeName('a'))
    ])
  })
})

describe('the status of a ring', () => {
  const quarter = 2 ** 30
  const status = {
    ...statusOf({ buckets: 3, nodes: [{}, { state: 'dead' }] }),
    placement: 'ring',
    ring: {
      version: 4,
      stage: 'filling',
      underReplicated: false,
      underReplicatedRecords: 2,
      hints: 7,
      removed: 0,
      received: 0,
      pending: 0,
      nodes: [
        {
          name: 'a',
          url: 'http://h:1',
          share: 0.75,
          records: 12,
          positions: [-quarter, 2 * quarter - 1]
        },
        { name: 'b', url: 'http://h:2', share: 0.25, records: 3, positions: [0] }
      ]
    }
  } as Status

  it('is its members, their shares, and the circle as a line', () => {
    const lines = formatStatus(status, { ...PLAIN, columns: 40 })
    expect(lines[0]).toBe(
      'ring 0000002a, version 4, 3 arcs, 2 copies, changing: nodes fetch what the new ring gives them, writes go to both rings'
    )
    expect(lines.join('\n')).toMatch(
      /^A {2}a +http:\/\/h:1 +alive +#{15}\.{5} +75\.0 % +12 {2}-1073741824 2147483647$/m
    )
    expect(lines).toContain('AAAAAAAAAABBBBBBBBBBAAAAAAAAAAAAAAAAAAAA')
    expect(lines.join('\n')).toContain('7 writes kept for nodes that are away')
    expect(lines.join('\n')).toContain('dead b: restart')
    expect(new Rebalance().describe(status, PLAIN)).toBeUndefined()
    expect(formatExplanation(status, PLAIN).join('\n')).toContain('positions alone')
  })
})
