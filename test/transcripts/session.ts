/** The cluster behind one transcript, and the commands that drive it. */
import { describeAction } from '../../src/cli/balance-report.js'
import type { NodeIndex } from '../../src/core/ids.js'
import type { Plan } from '../../src/core/placement/action.js'
import { createRuleSet, RULE_SETS } from '../../src/core/placement/rule-sets.js'
import type { RuleSet } from '../../src/core/placement/rule.js'
import { Random } from '../../src/core/random.js'
import { BalanceCluster, type Tally } from '../../sim/balance/cluster.js'
import { drawCluster, formatLevel } from '../../sim/balance/picture.js'
import { loadPicture } from '../../sim/balance/picture-reader.js'

type Settings = Readonly<Partial<Record<string, string>>>

const ASKS_MAX = 200
const ROUNDS_MAX = 1000

export class Session {
  #rules: RuleSet = createRuleSet('current')
  #cluster = new BalanceCluster({ buckets: 16, copies: 2, rules: this.#rules, seed: 1 })

  /** Runs one command and returns what it prints. */
  run(line: string, input: readonly string[]): string[] {
    const [command, ...words] = line.split(/\s+/)
    const settings = Object.fromEntries(
      words.filter((word) => word.includes('=')).map((word) => word.split('=', 2))
    ) as Settings
    const names = words.filter((word) => !word.includes('='))
    switch (command) {
      case 'cluster':
        return this.#start(settings)
      case 'join':
        for (const name of names) this.#cluster.join(name)
        return [this.#levels()]
      case 'leave':
        for (const name of names) this.#cluster.leave(this.#node(name))
        return names.map((name) => `${name} wants to leave`)
      case 'load':
        loadPicture(this.#cluster, this.#rules, input.join('\n'))
        return [this.#levels()]
      case 'ask':
        return this.#ask(names, settings)
      case 'explain':
        return this.#explain(names)
      case 'settle':
        return this.#settle(settings)
      case 'run':
        return this.#run(settings)
      case 'picture':
        return drawCluster(this.#cluster, this.#rules)
      case 'compare':
        return this.#compare(input)
      case 'levels':
        return [this.#levels()]
      default:
        throw new Error(`no command ${command}`)
    }
  }

  #start(settings: Settings): string[] {
    const name = RULE_SETS.find((known) => known === (settings['rules'] ?? 'current'))
    if (name === undefined) throw new Error(`no rules ${settings['rules']}`)
    this.#rules = createRuleSet(name)
    const options = {
      buckets: Number(settings['buckets'] ?? 16),
      copies: Number(settings['copies'] ?? 2),
      rules: this.#rules,
      seed: Number(settings['seed'] ?? 1),
      splitAt: Number(settings['split-at'] ?? 0)
    }
    this.#cluster = new BalanceCluster(options)
    return [`${options.buckets} buckets, ${options.copies} copies, rules ${name}`]
  }

  /** One node asks the other and acts on the answer; `times=3`, or `until=nothing`. */
  #ask([asker, other]: readonly string[], settings: Settings): string[] {
    const lines: string[] = []
    const times = settings['until'] === 'nothing' ? ASKS_MAX : Number(settings['times'] ?? 1)
    for (let time = 0; time < times; time++) {
      const plan = this.#cluster.ask(this.#node(asker), this.#node(other))
      lines.push(this.#line(asker, other, plan))
      if (plan.action === undefined) break
    }
    return lines
  }

  /** Lays the picture beside a document's; stars count only where the document draws any. */
  #compare(theirs: readonly string[]): string[] {
    const starred = theirs.some((line) => line.includes('*'))
    const own = drawCluster(this.#cluster, this.#rules)
    const lines = own.slice(0, theirs.length).map((line) => {
      return starred ? line : line.replaceAll('*', ' ')
    })
    const different = lines.flatMap((line, at) =>
      line === theirs[at] ? [] : [`ours:  ${line}`, `theirs:${theirs[at]}`]
    )
    return different.length === 0 ? ['the same'] : different
  }

  /** What each rule says, without acting. */
  #explain([asker, other]: readonly string[]): string[] {
    const view = this.#cluster.viewOf(this.#node(asker))
    const answer = this.#cluster.viewOf(this.#node(other)).own
    const plan = this.#rules.plan(view, answer)
    const verdicts = plan.verdicts.map(
      ({ rule, allow, reason }) => `  ${allow ? 'allow' : 'deny '} ${rule}: ${reason}`
    )
    return [this.#line(asker, other, plan), ...verdicts]
  }

  /** To rest: by its own seed, or with `seed=` exchange by exchange, each done before the next begins. */
  #settle(settings: Settings): string[] {
    const before = { ...this.#cluster.tally }
    const rounds = Number(settings['rounds'] ?? ROUNDS_MAX)
    const settled =
      settings['seed'] === undefined
        ? this.#cluster.settle(rounds)
        : this.#exchange(Number(settings['seed']), rounds)
    const end = settled ? 'at rest' : `not at rest within ${rounds} rounds`
    return [`${end}: ${formatTally(before, this.#cluster.tally)}`, this.#levels()]
  }

  #exchange(seed: number, rounds: number): boolean {
    const random = new Random(seed)
    let quiet = 0
    for (let round = 0; round < rounds && quiet <= 2 * this.#cluster.nodes.length; round++) {
      quiet++
      for (const node of random.shuffle(this.#cluster.nodes)) {
        const other = this.#rules.ask(this.#cluster.viewOf(node), random)
        if (other >= 0 && this.#cluster.ask(node, other).action !== undefined) quiet = 0
      }
    }
    return quiet > 2 * this.#cluster.nodes.length
  }

  /** The next actions, one a line, as chance has it. */
  #run(settings: Settings): string[] {
    const random = new Random(Number(settings['seed'] ?? 1))
    const lines: string[] = []
    const wanted = Number(settings['actions'] ?? 1)
    for (let asked = 0; asked < ASKS_MAX && lines.length < wanted; asked++) {
      const node = random.pick(this.#cluster.nodes)
      const other = this.#rules.ask(this.#cluster.viewOf(node), random)
      if (other < 0) continue
      const plan = this.#cluster.ask(node, other)
      if (plan.action === undefined) continue
      const line = this.#line(this.#nameOf(node), this.#nameOf(other), plan)
      lines.push(`${line} (${this.#levels()})`)
    }
    return lines
  }

  #line(asker: string, other: string, plan: Plan): string {
    const action = describeAction(plan.action, this.#cluster.table)
    return `${asker} -> ${other} ${action}: ${plan.reason}`
  }

  #levels(): string {
    const { nodes, table } = this.#cluster
    const single = (node: NodeIndex): string => `${this.#nameOf(node)} ${formatLevel(table, node)}`
    return nodes.map(single).join(', ')
  }

  #node(name: string): NodeIndex {
    const node = this.#cluster.nodes.find((candidate) => this.#nameOf(candidate) === name)
    if (node === undefined) throw new Error(`no node ${name}`)
    return node
  }

  #nameOf(node: NodeIndex): string {
    return this.#cluster.table.nameOf(node)
  }
}

function formatTally(before: Tally, after: Tally): string {
  const splits = after.splits - before.splits
  const parts = [
    `${after.shipped - before.shipped} shipped`,
    `${after.switches - before.switches} switched`
  ]
  return splits > 0 ? [...parts, 'buckets split'].join(', ') : parts.join(', ')
}
