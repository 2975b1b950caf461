/**
 * The compare-and-set of rows and of the voters, as the rest of a node relies on it (`registers`):
 * the same cases for every policy, so that another way to keep the registers has only to be added
 * to the list. Where a policy must differ, what is expected of it is a value in the table below.
 * Rows are compared by epoch, in what each node said when it followed them: what was decided stays
 * visible although the balancer goes on changing rows afterwards.
 */
import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode, type Settings } from '../../test/support/mini-cluster.js'
import { ByteReader } from '../core/bytes.js'
import { decodeEnvelopeHead } from '../wire/peer/envelope.js'
import { decodeMessage, type Message } from '../wire/peer/message.js'
import type { RowChange } from './cluster.js'

const POLICIES = ['majority', 'available', 'auto'] as const
type Policy = (typeof POLICIES)[number]

interface Expected {
  /** Whether a node that hears no other decides alone: one of two nodes, one of three. */
  readonly decidesAlone: { readonly 2: boolean; readonly 3: boolean }
  /** Of the voters a, c and d, those who are left a while after d was killed. */
  readonly withoutDead: string
}

const EXPECTED: Readonly<Record<Policy, Expected>> = {
  // More than half decide: of two, both. A silent voter goes only where three others remain: two
  // voters could lose nobody, as little as two of three can.
  majority: { decidesAlone: { 2: false, 3: false }, withoutDead: 'acd' },
  // Whoever can be heard decides: nobody is needed, and one that is silent for long is let go.
  available: { decidesAlone: { 2: true, 3: true }, withoutDead: 'ac' },
  // Two of whom one may fail must go on alone; from three on it is the majority.
  auto: { decidesAlone: { 2: true, 3: false }, withoutDead: 'acd' }
}

interface Started {
  readonly cluster: MiniCluster
  readonly nodes: readonly MiniNode[]
}

function startSettled(settings: Settings, ...names: string[]): Started {
  const cluster = new MiniCluster(settings)
  const nodes = cluster.startAll(...names)
  awaitVoters(cluster, names.join(''))
  cluster.balance()
  return { cluster, nodes }
}

function awaitVoters(cluster: MiniCluster, expected: string): void {
  const isThere = (at: MiniNode): boolean => {
    const { voters, settled } = at.node.inspect().voters
    return settled && voters.map(({ name }) => name).join('') === expected
  }
  cluster.runUntil(() => cluster.running.every(isThere), 60_000, `the voters ${expected}`)
  expect(new Set(cluster.running.map(({ node }) => node.inspect().voters.version)).size).toBe(1)
}

/** All tables are equal, and nobody is changing anything. */
function awaitEqual(cluster: MiniCluster): void {
  const digests = (): Set<number> => new Set(cluster.running.map(({ node }) => node.table.digest()))
  const isQuiet = (): boolean => cluster.running.every(({ node }) => node.inspect().deciding === 0)
  cluster.runUntil(() => isQuiet() && digests().size === 1, 60_000, 'equal tables')
}

/** Tries a change from the epoch that this node knows; its answers, of which there must be one. */
function change(at: MiniNode, bucket: number, holders: readonly string[]): boolean[] {
  const wish = { bucket, holders }
  return changeAll(at, [wish]).get(bucket) ?? []
}

interface RowWish {
  readonly bucket: number
  /** Primary first. */
  readonly holders: readonly string[]
}

/** The same for many rows in one call: the answers by bucket. */
function changeAll(at: MiniNode, wishes: readonly RowWish[]): ReadonlyMap<number, boolean[]> {
  const answers = new Map(wishes.map(({ bucket }): [number, boolean[]] => [bucket, []]))
  at.input((node) => {
    const changes = wishes.map(({ bucket, holders }): RowChange => {
      return { bucket, holders: holders.map((name) => node.table.indexOf(name)) }
    })
    node.changeRows(changes, 'a test', {
      done: (bucket, decided) => answers.get(bucket)?.push(decided)
    })
  })
  return answers
}

function holdersOf(at: MiniNode, bucket: number): string[] {
  const { primary, backups } = at.node.table.row(bucket)
  return [primary ?? 'nobody', ...backups]
}

/** A bucket, chosen by its primary and backup, and the one of three that does not hold it. */
function bucketWith(
  { nodes }: Started,
  isIt: (roles: { primary: string; backup: string }) => boolean = () => true
): { bucket: number; primary: MiniNode; backup: MiniNode; third: MiniNode } {
  const [first] = nodes
  for (let bucket = 0; bucket <= first.node.table.mask; bucket++) {
    const [primary, backup] = holdersOf(first, bucket)
    if (!isIt({ primary, backup })) continue
    const named = (name: string): MiniNode | undefined => nodes.find((at) => at.name === name)
    const third = nodes.find(({ name }) => name !== primary && name !== backup) ?? first
    return { bucket, primary: named(primary) ?? first, backup: named(backup) ?? first, third }
  }
  throw new Error('no such bucket')
}

/** What these said of a bucket's rows: by epoch all that anybody followed, one if all is right. */
function historyOf(nodes: readonly MiniNode[], bucket: number): Map<number, Set<string>> {
  const history = new Map<number, Set<string>>()
  for (const at of nodes) {
    for (const { bucket: which, epoch, primary, backups } of at.eventsOf('row')) {
      if (which !== bucket) continue
      const rows = history.get(epoch) ?? new Set<string>()
      history.set(epoch, rows.add([primary ?? 'nobody', ...backups].join(' ')))
    }
  }
  return history
}

/** The first row after that epoch. */
function nextRow(nodes: readonly MiniNode[], bucket: number, epoch: number): string | undefined {
  const history = historyOf(nodes, bucket)
  const later = [...history.keys()].filter((it) => it > epoch)
  return [...(history.get(Math.min(...later)) ?? [])][0]
}

/** Two rows of one epoch, which there must never be; the dead count too. */
function contradictions({ cluster }: Started): string[] {
  const nodes = [...cluster.nodes.values()]
  const found: string[] = []
  for (let bucket = 0; bucket <= nodes[0].node.table.mask; bucket++) {
    for (const [epoch, rows] of historyOf(nodes, bucket)) {
      if (rows.size > 1) found.push(`bucket ${bucket} at ${epoch}: ${[...rows].join(' or ')}`)
    }
  }
  return found
}

/** One after the other may be faster while nodes come and go, but not for ever. */
const OVERTAKEN_MAX = 10

/** Each of these can have a row decided, and all the others learn it. */
function expectChangeable(cluster: MiniCluster, by: readonly MiniNode[] = cluster.running): void {
  const bucket = 0
  for (const at of by) {
    let answers: boolean[] = []
    for (let tries = 0; !answers[0]; tries++) {
      expect(tries).toBeLessThan(OVERTAKEN_MAX)
      awaitEqual(cluster)
      const epoch = at.node.table.epochOf(bucket)
      answers = change(at, bucket, holdersOf(at, bucket))
      cluster.runUntil(() => answers.length > 0, 20_000, `a change by ${at.name}`)
      // Decided or overtaken, the row is another now.
      expect(at.node.table.epochOf(bucket)).toBeGreaterThan(epoch)
    }
    awaitEqual(cluster)
    expect(answers).toEqual([true])
  }
}

function messagesOf(envelope: Uint8Array): { sent: number; messages: Message[] } {
  const reader = ByteReader.over(envelope)
  const { sent } = decodeEnvelopeHead(reader)
  const messages: Message[] = []
  while (reader.remaining > 0) messages.push(decodeMessage(reader.copy(reader.varint())))
  return { sent, messages }
}

describe.each(POLICIES)('rows that are changed with the policy %s', (policy) => {
  it('are decided from the present epoch, whoever asks, and known to all with the next one', () => {
    const started = startSettled({ policy }, 'a', 'b', 'c')
    const { cluster, nodes } = started
    for (const who of ['primary', 'backup', 'third'] as const) {
      for (const wished of ['struck', 'swapped'] as const) {
        const roles = bucketWith(started)
        const { bucket, primary, backup } = roles
        // Only the primary gives its bucket away: others would take it from one that lives.
        if (wished === 'swapped' && who !== 'primary') continue
        const epoch = primary.node.table.epochOf(bucket)
        const holders = wished === 'struck' ? [primary.name] : [backup.name, primary.name]
        const answers = change(roles[who], bucket, holders)
        cluster.runUntil(() => answers.length > 0)
        expect(answers).toEqual([true])
        const said = (at: MiniNode): string[] => [...(historyOf([at], bucket).get(epoch + 1) ?? [])]
        cluster.runUntil(() => nodes.every((at) => said(at).length > 0))
        expect(nodes.map(said)).toEqual(nodes.map(() => [holders.join(' ')]))
        cluster.run(2000)
        cluster.balance()
        expect(answers).toEqual([true])
      }
    }
    expect(contradictions(started)).toEqual([])
    expect(cluster.differences()).toEqual([])
  })

  it('stay as they are, and whoever asks is told, if the expected epoch has passed', () => {
    const started = startSettled({ policy }, 'a', 'b', 'c')
    const { cluster, nodes } = started
    const { bucket, primary, third } = bucketWith(started)
    const epoch = primary.node.table.epochOf(bucket)
    const first = change(primary, bucket, [primary.name])
    cluster.runUntil(() => primary.node.table.epochOf(bucket) > epoch)
    expect(third.node.table.epochOf(bucket)).toBe(epoch)
    // Not by the primary: whom it asks, or who tells it later, must know.
    cluster.cutOneWay(primary.name, third.name)
    const stale = change(third, bucket, [primary.name, third.name])
    cluster.runUntil(() => stale.length > 0 && first.length > 0)
    cluster.heal()
    expect([first, stale]).toEqual([[true], [false]])
    expect(nodes.map((at) => at.node.table.epochOf(bucket))).not.toContain(epoch + 2)
    cluster.run(2000)
    expect(historyOf(nodes, bucket).get(epoch + 1)).toEqual(new Set([primary.name]))
    expect([first, stale]).toEqual([[true], [false]])
    expect(contradictions(started)).toEqual([])
  })

  it('are left alone while the same node is changing them', () => {
    const started = startSettled({ policy }, 'a', 'b', 'c')
    const { cluster, nodes } = started
    const { bucket, primary, backup } = bucketWith(started)
    const epoch = primary.node.table.epochOf(bucket)
    const first = change(primary, bucket, [primary.name])
    expect(primary.node.isDeciding(bucket)).toBe(true)
    const second = change(primary, bucket, [backup.name, primary.name])
    expect([first, second]).toEqual([[], [false]])
    cluster.run(2000)
    expect([first, second]).toEqual([[true], [false]])
    expect(historyOf(nodes, bucket).get(epoch + 1)).toEqual(new Set([primary.name]))
  })

  it('become what one of two wanted who asked at once, and the other is told', () => {
    const started = startSettled({ policy }, 'a', 'b', 'c')
    const { cluster, nodes } = started
    const epochs = Array.from({ length: 16 }, (_, bucket) => nodes[0].node.table.epochOf(bucket))
    const wishesOf = ({ name }: MiniNode): RowWish[] =>
      epochs.flatMap((_, bucket) => {
        const [primary, backup] = holdersOf(nodes[0], bucket)
        if (name === backup) return []
        return [{ bucket, holders: name === primary ? [name] : [primary, name] }]
      })
    const asked = nodes.map((at) => {
      const wishes = wishesOf(at)
      return { wishes, answers: changeAll(at, wishes) }
    })
    const answersOf = (bucket: number): boolean[] =>
      asked.flatMap(({ answers }) => answers.get(bucket) ?? [])
    cluster.runUntil(() => epochs.every((_, bucket) => answersOf(bucket).length >= 2))
    cluster.run(2000)
    epochs.forEach((epoch, bucket) => {
      expect(answersOf(bucket).sort()).toEqual([false, true])
      const winner = asked.find(({ answers }) => answers.get(bucket)?.[0] === true)
      const wish = winner?.wishes.find((it) => it.bucket === bucket)
      expect(nextRow(nodes, bucket, epoch)).toBe(wish?.holders.join(' '))
    })
    awaitEqual(cluster)
    expect(contradictions(started)).toEqual([])
  })

  it('change by the hundred in a few messages when a node has died', () => {
    const started = startSettled({ policy, buckets: 256 }, 'a', 'b', 'c')
    const { cluster, nodes } = started
    const [a, b, c] = nodes
    const named = (at: MiniNode, bucket: number): boolean => holdersOf(at, bucket).includes('c')
    const left = (at: MiniNode): number[] =>
      Array.from({ length: 256 }, (_, bucket) => bucket).filter((bucket) => named(at, bucket))
    const before = left(a)
    expect(before.length).toBeGreaterThan(150)
    /** By sender, receiver and kind: frames, and the rows of the dead node in them. */
    const counts = new Map<string, { frames: Set<number>; rows: Set<number> }>()
    cluster.onPost = (from, to, envelope) => {
      const sender = nodes.find(({ name }) => name === from) ?? a
      const { sent, messages } = messagesOf(envelope)
      messages.forEach((message, i) => {
        if (to === 'c' || (message.kind !== 'prepare' && message.kind !== 'propose')) return
        const rows = message.asks
          .map(({ register }) => register)
          .filter((register) => register < 256 && named(sender, register))
        if (rows.length === 0) return
        const key = `${message.kind} from ${from} to ${to}`
        const known = counts.get(key) ?? { frames: new Set(), rows: new Set() }
        counts.set(key, known)
        // One that is sent again is the same frame.
        known.frames.add(sent + i)
        for (const row of rows) known.rows.add(row)
      })
      return true
    }
    c.kill()
    cluster.runUntil(() => left(a).length === 0 && left(b).length === 0)
    const all = new Set([...counts.values()].flatMap(({ rows }) => [...rows]))
    expect([...all].sort((x, y) => x - y)).toEqual(before)
    for (const [key, { frames, rows }] of counts) {
      expect({ key, few: frames.size <= 4, rows: rows.size > 20 }).toEqual({
        key,
        few: true,
        rows: true
      })
    }
    expect(counts.size).toBeGreaterThanOrEqual(2)
    expect(contradictions(started)).toEqual([])
  })

  describe.each(['asked', 'proposed', 'decided'] as const)(
    'are decided one way or the other when whoever changes them dies, having just %s,',
    (moment) => {
      it.each(['third', 'primary'] as const)('and can be changed again (%s)', (role) => {
        const started = startSettled({ policy }, 'a', 'b', 'c')
        const { cluster, nodes } = started
        const [a, b, c] = nodes
        // c has no promises from before, since it does not look after the voters: it asks first.
        const { bucket, primary, backup } = bucketWith(started, (roles) =>
          role === 'primary' ? roles.primary === 'c' : roles.primary !== 'c' && roles.backup !== 'c'
        )
        const epoch = a.node.table.epochOf(bucket)
        const wished = role === 'primary' ? [backup.name, 'c'] : [primary.name]
        dieWhen({ cluster, at: c, bucket, moment })
        const answers = change(c, bucket, wished)
        cluster.runUntil(() => c.state === 'dead')
        expect(answers).toEqual(moment === 'decided' ? [true] : [])
        const heir = role === 'primary' ? backup : primary
        const rest = [a, b]
        if (role === 'primary') {
          cluster.runUntil(() => rest.every((at) => holdersOf(at, bucket)[0] === heir.name))
        }
        const first = change(heir, bucket, holdersOf(heir, bucket))
        cluster.runUntil(() => first.length > 0)
        awaitEqual(cluster)
        expect(first).toHaveLength(1)
        if (moment === 'decided') {
          // It is there although nobody was told, and what was asked from the row before it is not.
          expect(nextRow(rest, bucket, epoch)).toBe(wished.join(' '))
          if (role === 'third') expect(first).toEqual([false])
        }
        expectChangeable(cluster)
        cluster.run(3000)
        cluster.balance()
        expect(rest.map((at) => holdersOf(at, bucket).includes('c'))).toEqual([false, false])
        expect(contradictions(started)).toEqual([])
        expect(cluster.differences()).toEqual([])
      })
    }
  )
})

interface Death {
  readonly cluster: MiniCluster
  readonly at: MiniNode
  readonly bucket: number
  readonly moment: 'asked' | 'proposed' | 'decided'
}

/** Ends a node when one voter has been asked by it, or when it has decided and told nobody. */
function dieWhen({ cluster, at, bucket, moment }: Death): void {
  const kind = moment === 'asked' ? 'prepare' : 'propose'
  cluster.onPost = (from, _, envelope) => {
    if (from !== at.name) return true
    if (at.state === 'dead') return false
    if (moment === 'decided') return true
    const isIt = messagesOf(envelope).messages.some(
      (message) => message.kind === kind && message.asks.some(({ register }) => register === bucket)
    )
    if (isIt) at.kill()
    return true
  }
  cluster.onEvent = (who, event) => {
    if (moment !== 'decided' || who !== at) return
    if (event.kind === 'row' && event.bucket === bucket) at.kill()
  }
}

describe.each(POLICIES)('rows on both sides of a cut with the policy %s', (policy) => {
  const { decidesAlone } = EXPECTED[policy]

  it.each([2, 3] as const)('are changed where there are enough voters (%i nodes)', (count) => {
    const started = startSettled({ policy }, ...['a', 'b', 'c'].slice(0, count))
    const { cluster, nodes } = started
    const lone = nodes[count - 1]
    const rest = nodes.slice(0, -1)
    const { bucket, backup } = bucketWith(started, ({ primary }) => primary === lone.name)
    const epoch = lone.node.table.epochOf(bucket)
    for (const { name } of rest) cluster.cut(lone.name, name)
    const answers = change(lone, bucket, [lone.name])
    cluster.run(6000)
    expect(answers).toEqual(decidesAlone[count] ? [true] : [])
    expect(lone.node.table.epochOf(bucket) > epoch).toBe(decidesAlone[count])
    const mayTakeOver = count === 3 || decidesAlone[count]
    for (const at of rest) {
      expect(holdersOf(at, bucket)[0]).toBe(mayTakeOver ? backup.name : lone.name)
    }
    const epochs = nodes.map(({ node }) => node.table.epochOf(bucket))
    cluster.heal()
    cluster.runUntil(() => answers.length > 0)
    cluster.run(2000)
    cluster.balance()
    awaitEqual(cluster)
    expect(answers).toHaveLength(1)
    expect(lone.node.table.epochOf(bucket)).toBeGreaterThan(Math.max(...epochs))
    expect(cluster.differences()).toEqual([])
    // Where each side decides alone, both may give the same number to what they decide.
    if (!decidesAlone[count]) expect(contradictions(started)).toEqual([])
    expectChangeable(cluster)
  })
})

describe.each(POLICIES)('voters that come and go with the policy %s', (policy) => {
  it('are the same to all, and rows can be changed all the time', () => {
    const started = startSettled({ policy }, 'a', 'b', 'c')
    const { cluster, nodes } = started
    expectChangeable(cluster)

    const d = cluster.start('d')
    cluster.runUntil(() => d.node.joined)
    expectChangeable(cluster)
    awaitVoters(cluster, 'abcd')
    cluster.balance()

    const [a, b, c] = nodes
    cluster.onEvent = (at, event) => {
      // Nobody tells it anything after that.
      if (event.kind === 'mayGo') at.kill()
    }
    b.input((node, now) => node.leave(now))
    expectChangeable(cluster, [a, c, d])
    cluster.runUntil(() => b.state === 'dead', 60_000)
    awaitVoters(cluster, 'acd')
    expectChangeable(cluster)

    d.kill()
    cluster.run(3000)
    expectChangeable(cluster)
    cluster.run(12_000)
    awaitVoters(cluster, EXPECTED[policy].withoutDead)
    expectChangeable(cluster)
    expect(contradictions(started)).toEqual([])
  })
})

describe.each(POLICIES)('a witness beside two nodes with the policy %s', (policy) => {
  it('holds nothing, votes, and one of the two goes on without the other', () => {
    const cluster = new MiniCluster({ policy })
    const [a, b] = cluster.startAll('a', 'b')
    const witness = cluster.start('w', { weight: 0 })
    const nodes = [a, b, witness]
    awaitVoters(cluster, 'abw')
    cluster.run(5000)
    awaitEqual(cluster)
    expect(nodes.map(({ primaries, backups }) => [primaries.length, backups.length])).toEqual([
      [8, 8],
      [8, 8],
      [0, 0]
    ])
    const keys = Array.from({ length: 50 }, (_, i) => `key:${i}`)
    const client = cluster.client(a)
    for (const key of keys) expect(client.call('SET', key, key)).toBe('OK')

    let votes = 0
    cluster.onPost = (from, to, envelope) => {
      if (from !== 'w' || to !== 'a') return true
      for (const message of messagesOf(envelope).messages) {
        if (message.kind !== 'accepted') continue
        votes += message.answers.filter(({ verdict }) => verdict === 'ok').length
      }
      return true
    }
    b.kill()
    cluster.runUntil(() => a.primaries.length === 16)
    expect(votes).toBeGreaterThanOrEqual(16)
    expect(witness.held).toEqual([])
    for (const key of keys) {
      expect(client.call('GET', key)).toBe(key)
      expect(client.call('SET', key, 'new')).toBe('OK')
    }
    expectChangeable(cluster)
    expect(witness.node.table.primariesOf(witness.node.table.indexOf('a'))).toBe(16)
    expect(contradictions({ cluster, nodes })).toEqual([])
  })
})
