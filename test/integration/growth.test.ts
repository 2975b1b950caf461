/**
 * Clusters that grow and end in every way: nodes that come at the same time, while buckets are cut, with other settings
 * than the cluster has, or not at all any more.
 */
import { afterEach, expect, test } from 'vitest'
import type { RespConnection } from '../../src/cli/resp-connection.js'
import { Processes, until, untilBalanced, type NodeProcess } from './process.js'

const processes = new Processes()
afterEach(() => processes.end())

const valueOf = (i: number): string => `value ${i}`

/** Writes one key after the other, so many at a time, until it is told to stop. */
class Writer {
  readonly acknowledged: number[] = []
  readonly failures: string[] = []
  readonly #connection: RespConnection
  readonly #ends: Promise<void>[]
  #next = 0
  #limit: number

  constructor(connection: RespConnection, options: { atOnce: number; limit?: number }) {
    this.#connection = connection
    this.#limit = options.limit ?? Infinity
    this.#ends = Array.from({ length: options.atOnce }, () => this.#write())
  }

  /** Some more were acknowledged. */
  async goesOn(): Promise<void> {
    const before = this.acknowledged.length
    await until('writes that go on', () => this.acknowledged.length > before + 100)
  }

  stop(): Promise<unknown> {
    this.#limit = this.#next
    return this.ends()
  }

  ends(): Promise<unknown> {
    return Promise.all(this.#ends)
  }

  async #write(): Promise<void> {
    while (this.#next < this.#limit) {
      const i = this.#next++
      try {
        const reply = await this.#connection.call('SET', `key:${i}`, valueOf(i))
        if (reply === 'OK') this.acknowledged.push(i)
        else this.failures.push(JSON.stringify(reply))
      } catch (error) {
        this.failures.push(String(error))
      }
    }
  }
}

async function expectAll(connection: RespConnection, numbers: readonly number[]): Promise<void> {
  const wrong: number[] = []
  for (let from = 0; from < numbers.length; from += 1000) {
    const some = numbers.slice(from, from + 1000)
    const values = await connection.call('MGET', ...some.map((i) => `key:${i}`))
    some.forEach((i, place) => {
      if ((values as unknown[])[place] !== valueOf(i)) wrong.push(i)
    })
  }
  expect(wrong).toEqual([])
}

test('100,000 keys while a fourth node joins and one is killed: what was acknowledged is there', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  const writer = new Writer(await processes.connect(a), { atOnce: 256, limit: 100_000 })
  await writer.goesOn()
  const d = await processes.start('d', '--join', b.address)
  await writer.goesOn()
  c.signal('SIGKILL')
  await writer.ends()
  expect(writer.failures).toEqual([])
  expect(writer.acknowledged).toHaveLength(100_000)
  await untilBalanced([a, b, d])
  expect(await d.status()).toMatchObject({ balanced: true, withoutBackup: 0, lost: 0 })
  await expectAll(await processes.connect(d), writer.acknowledged)
}, 90_000)

test('nodes come at the same time while buckets are cut, and no write is refused or lost', async () => {
  const a = await processes.start('a', '--buckets', '16', '--split-at', '6')
  const writer = new Writer(await processes.connect(a), { atOnce: 16 })
  await writer.goesOn()
  const names = ['b', 'c', 'd', 'e', 'f']
  const others = await Promise.all(names.map((name) => processes.start(name, '--join', a.address)))
  await until('a cut', async () => (await a.ownStatus()).mask === '0x00FF')
  await writer.goesOn()
  await untilBalanced([a, ...others])
  await writer.stop()
  expect(writer.failures).toEqual([])
  expect(await others[0].status()).toMatchObject({ mask: '0x00FF', withoutBackup: 0, lost: 0 })
  await expectAll(await processes.connect(others[4]), writer.acknowledged)
})

test('a node takes the number of buckets and copies from the cluster, or says why it cannot join', async () => {
  const a = await processes.start('a', '--buckets', '16', '--copies', '2', '--split-at', '0')
  const b = await processes.start('b', '--join', a.address, '--buckets', '4096', '--copies', '1')
  await untilBalanced([a, b])
  expect(await b.ownStatus()).toMatchObject({ mask: '0x000F', copies: 2 })

  const other = processes.launch('c', '--join', a.address, '--hash', 'md5')
  await until('a reason', () => /places keys by redis, this node by md5/.test(other.stderr))
  expect(other.stdout).toBe('')
  const ring = processes.launch('r', '--join', a.address, '--placement', 'ring')
  await until('a reason', () => ring.stderr.includes('placement'))
  expect(ring.stdout).toBe('')
  expect((await a.status()).nodes.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('when all have been killed, whoever starts is a new cluster', async () => {
  const nodes = await processes.cluster(['a', 'b', 'c'])
  const { cluster } = await nodes[0].status()
  await (await processes.connect(nodes[1])).call('SET', 'key', 'value')
  await Promise.all(nodes.map((node) => node.kill()))

  const port = (node: NodeProcess): string => node.address.split(':')[1]
  const [a, b] = nodes
  const alone = processes.launch('b', '--port', port(b), '--join', a.address)
  await until('that nobody is there', () => /cannot (reach|join)|nobody/i.test(alone.stderr))
  const first = await processes.start('a', '--port', port(a))
  await alone.serves()
  await untilBalanced([first, alone])
  const status = await alone.status()
  expect(status.cluster).not.toBe(cluster)
  expect(status).toMatchObject({ withoutBackup: 0, lost: 0 })
  expect(await (await processes.connect(first)).call('GET', 'key')).toBe(null)
})

test('a node that cannot hand over ends when its time is over, or at once at the second SIGINT', async () => {
  const [a, b, c, d] = await processes.cluster(['a', 'b', 'c', 'd'], '--leave-timeout', '2')
  await (await processes.connect(c)).call('SET', 'key', 'value')
  // Two of four decide nothing, so nobody can take over what these hold.
  for (const node of [a, b]) node.signal('SIGSTOP')
  c.signal('SIGINT')
  await until('the wish to leave', () => c.stderr.includes('leaving'))
  c.signal('SIGINT')
  expect(await c.ended).toEqual({ code: 130, signal: null })
  d.signal('SIGTERM')
  expect(await d.ended).toEqual({ code: 1, signal: null })
  expect(d.stderr).toContain('leaving took too long')
})
