/**
 * `opencluster watch`: what happens to keys, a line an event, until Ctrl-C. It is connected to one node, which tells it
 * what any node does; when that one dies it goes on at another one and says that something may be missing in between.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { integer, type Option } from '../config/option.js'
import type { ReplyValue } from '../wire/resp/reply-value.js'
import { fetchStatus } from './cluster-status.js'
import { EXIT, type Output } from './command.js'
import { flag } from './options.js'
import { definePositionalVerb } from './positional.js'
import { nodeOption, RespConnection } from './resp-connection.js'

/** A node that does not answer for so long is left for another one. */
const SILENCE_MS_MAX = 3000
const PING_MS = 1000
const AGAIN_MS = 250
const COUNT_MAX = 1_000_000_000
/** After a change of nodes an event may come a second time; so many are remembered. */
const REMEMBERED = 1000

interface WatchedEvent {
  readonly change: string
  readonly key: string
  readonly bucket: number
  readonly seq: number
}

/** Where the events go, and how many are still wanted. */
class Printer {
  readonly #output: Output
  readonly #json: boolean
  readonly #seen = new Set<string>()
  #left: number
  #finish: () => void = () => undefined
  readonly finished = new Promise<void>((resolve) => (this.#finish = resolve))

  constructor(output: Output, json: boolean, count: number) {
    this.#output = output
    this.#json = json
    this.#left = count
  }

  get isFinished(): boolean {
    return this.#left <= 0
  }

  push(items: readonly ReplyValue[]): void {
    const [name, bucket, seq, change, key] = items
    if (name === 'oc.gap') this.gap('a node could not be told everything')
    if (name !== 'oc.event' || typeof change !== 'string' || typeof key !== 'string') return
    if (!this.isFinished) this.#print({ change, key, bucket: Number(bucket), seq: Number(seq) })
  }

  gap(reason: string): void {
    if (this.#json) this.#line(JSON.stringify({ change: 'gap', reason }))
    else this.#line(`gap      events may be missing: ${reason}`)
  }

  #print(event: WatchedEvent): void {
    const { change, key, bucket, seq } = event
    const id = `${seq} ${key}`
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    if (this.#seen.size > REMEMBERED) {
      const [oldest] = this.#seen
      this.#seen.delete(oldest)
    }
    if (this.#json) this.#line(JSON.stringify(event))
    else this.#line(`${change.padEnd(8)} ${key}  (bucket ${bucket}, write ${seq})`)
    this.#left--
    if (this.isFinished) this.#finish()
  }

  #line(text: string): void {
    this.#output.stdout.write(`${text}\n`)
  }
}

function countOption(): Option<number> {
  const help = 'end after so many events'
  return { ...integer(help, Infinity, { min: 1, max: COUNT_MAX }), shown: '' }
}

export const watch = definePositionalVerb({
  name: 'watch',
  summary: 'print what happens to keys, as it happens',
  description: [
    'One line an event: set, deleted, expired or evicted, the key, its bucket and the number of the write in it. PATTERN',
    'is a key, or has * ? [a-c] in it. When its node dies it goes on at another one; a line that begins with gap says',
    'that something may be missing there.'
  ].join('\n'),
  example: "opencluster watch 'user:*' --json",
  words: ['PATTERN'],
  options: { node: nodeOption(), json: flag('one JSON object a line'), count: countOption() },
  run: async ([pattern], { node, json, count }, output) => {
    const printer = new Printer(output, json === true, count)
    const client = randomUUID()
    let known = [node]
    let connection = await begin(node, { client, pattern, printer })
    output.stderr.write(`watching ${pattern} at ${node}\n`)
    for (;;) {
      known = await nodesAt(connection.address, known)
      await Promise.race([untilLost(connection), printer.finished])
      connection.close()
      if (printer.isFinished) return EXIT.success
      output.stderr.write(`${connection.address} is lost\n`)
      const lost = connection.address
      const others = known.filter((address) => address !== lost)
      connection = await beginAnywhere([...others, lost], { client, pattern, printer })
      output.stderr.write(`watching ${pattern} at ${connection.address}\n`)
      printer.gap(`${lost} was lost, it goes on at ${connection.address}`)
    }
  }
})

interface Watching {
  readonly client: string
  readonly pattern: string
  readonly printer: Printer
}

async function begin(
  address: string,
  { client, pattern, printer }: Watching
): Promise<RespConnection> {
  const connection = await RespConnection.open(address)
  connection.onPush = (items) => printer.push(items)
  try {
    // An older door pushes without being asked to.
    await connection.call('HELLO', '3').catch(() => undefined)
    await connection.call('OC.WATCH', client, pattern)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Tries one after the other, again and again. */
async function beginAnywhere(
  addresses: readonly string[],
  watching: Watching
): Promise<RespConnection> {
  for (;;) {
    for (const address of addresses) {
      const connection = await begin(address, watching).catch(() => undefined)
      if (connection !== undefined) return connection
    }
    await sleep(AGAIN_MS)
  }
}

/** Ends when the connection does, or when the node does not answer any more. */
async function untilLost(connection: RespConnection): Promise<void> {
  for (;;) {
    const silence = new AbortController()
    const answered = await Promise.race([
      connection.call('PING').then(
        () => true,
        () => false
      ),
      sleep(SILENCE_MS_MAX, false, { signal: silence.signal, ref: false }).catch(() => false)
    ])
    silence.abort()
    if (!answered) return
    await Promise.race([sleep(PING_MS, undefined, { ref: false }), connection.closed])
  }
}

/** The nodes there are, as this one knows them; what was known before if it does not say. */
async function nodesAt(address: string, known: readonly string[]): Promise<string[]> {
  try {
    const { nodes } = await fetchStatus(address)
    const alive = nodes.filter(({ state }) => state === 'alive').map(({ resp }) => resp)
    return [...new Set([...alive, address])]
  } catch {
    return [...known]
  }
}
