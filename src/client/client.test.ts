// What the client does when nodes answer late, wrongly or not at all, against sockets that do exactly that.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { latin1Bytes, viewOf } from '../core/bytes.js'
import { redisHash } from '../core/hash/placement-hash.js'
import { INCOMPLETE, RequestParser } from '../wire/resp/request-parser.js'
import { connect, type Client } from './client.js'
import type { ClientOptions } from './options.js'

type Answer = (words: string[], socket: Socket) => string | undefined

const QUICK = { answerMs: 100, timeoutMs: 2000, connectMs: 500 } as const

/** A node as far as the client sees one: a port, and an answer to every command. */
class Port {
  address = ''
  answer: Answer
  /** The commands that came, without the greeting. */
  readonly heard: string[] = []
  /** How many commands came with each read. */
  readonly reads: number[] = []
  readonly sockets = new Set<Socket>()
  #server: Server | undefined

  constructor(answer: Answer) {
    this.answer = answer
  }

  async open(port = 0): Promise<this> {
    const server = createServer((socket) => this.#serve(socket))
    this.#server = server
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    return this
  }

  get port(): number {
    return Number(this.address.split(':')[1])
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.#server?.close()
    if (this.#server?.listening === true) await once(this.#server, 'close')
  }

  heardOf(name: string): string[] {
    return this.heard.filter((line) => line.startsWith(`${name} `) || line === name)
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket)
    const parser = new RequestParser({})
    let input = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => this.sockets.delete(socket))
    socket.on('data', (bytes) => {
      input = Buffer.concat([input, bytes])
      let [at, count] = [0, 0]
      for (;;) {
        parser.reset()
        const after = parser.parse(input, viewOf(input), at, input.length)
        if (after === INCOMPLETE) break
        const words = Array.from({ length: parser.count }, (_, i) =>
          input.toString('utf8', parser.offsets[i], parser.offsets[i] + parser.lengths[i])
        )
        at = after
        count++
        if (words[0] !== 'HELLO') this.heard.push(words.join(' '))
        const answer = words[0] === 'HELLO' ? '*0\r\n' : this.answer(words, socket)
        if (answer !== undefined && !socket.destroyed) socket.write(answer)
      }
      this.reads.push(count)
      input = input.subarray(at)
    })
  }
}

const ports: Port[] = []
const clients: Client[] = []

async function open(answer: Answer): Promise<Port> {
  const port = await new Port(answer).open()
  ports.push(port)
  return port
}

async function connectTo(to: Port | Port[], options: ClientOptions = {}): Promise<Client> {
  const addresses = (Array.isArray(to) ? to : [to]).map(({ address }) => address)
  const client = await connect(addresses, { ...QUICK, ...options })
  clients.push(client)
  return client
}

afterEach(async () => {
  await Promise.all(ports.splice(0).map((port) => port.close()))
  await Promise.all(clients.splice(0).map((client) => client.close()))
})

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
const UNKNOWN = "-ERR unknown command 'X'\r\n"

/** A table of 16 buckets, all with this primary and backup. */
function tableOf(
  primary: Port,
  backup?: Port,
  options: { mask?: number; epoch?: number } = {}
): string {
  const { mask = 15, epoch = 1 } = options
  const nodes = [['p', primary.address]]
  if (backup !== undefined) nodes.push(['b', backup.address])
  const rows = Array.from({ length: mask + 1 }, (_, bucket) =>
    backup === undefined
      ? `*3\r\n:${bucket}\r\n:${epoch}\r\n:0\r\n`
      : `*4\r\n:${bucket}\r\n:${epoch}\r\n:0\r\n:1\r\n`
  )
  const head = [bulk('oc.table'), bulk('c1'), bulk('redis'), `:${mask}\r\n`].join('')
  const names = `*${nodes.length * 2}\r\n${nodes.flat().map(bulk).join('')}`
  return `6\r\n${head}${names}*${rows.length}\r\n${rows.join('')}`
}

/** Answers OC.TABLE by this table once it is made, and everything else by `answer`. */
function withTable(table: () => string, answer: Answer): Answer {
  return (words, socket) => {
    if (words[0] === 'OC.TABLE') return `*${table()}`
    return words[0].startsWith('OC.') ? UNKNOWN : answer(words, socket)
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('connecting', () => {
  it('says which address could not be reached, and why', async () => {
    const port = await open(() => '+OK\r\n')
    await port.close()
    await expect(connect(port.address, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'OC_UNREACHABLE',
      message: `${port.address}: ${port.address}: ECONNREFUSED`
    })
    await expect(connect('no address')).rejects.toMatchObject({ code: 'OC_BAD_OPTION' })
    await expect(connect([])).rejects.toMatchObject({ code: 'OC_BAD_OPTION' })
    await expect(connect('a:1', { timeoutMs: 0 })).rejects.toMatchObject({ code: 'OC_BAD_OPTION' })
  })

  it('takes the address that answers', async () => {
    const gone = await open(() => undefined)
    await gone.close()
    const port = await open((words) => (words[0] === 'GET' ? bulk('v') : UNKNOWN))
    const client = await connectTo([gone, port])
    expect(await client.get('k')).toBe('v')
    expect(client.view()).toEqual({ cluster: '', buckets: 0, nodes: [], connected: [port.address] })
  })

  it('gives up a node that says something else', async () => {
    const refusing = await new Promise<Server>((resolve) => {
      const server: Server = createServer((socket) => {
        socket.end('-ERR max number of clients reached\r\n')
      }).listen(0, '127.0.0.1', () => resolve(server))
    })
    const { port } = refusing.address() as AddressInfo
    await expect(connect(`127.0.0.1:${port}`, { timeoutMs: 300 })).rejects.toThrow('max number')
    refusing.close()
  })
})

describe('commands', () => {
  it('of one turn go in one write, and their replies come in order', async () => {
    const port = await open((words) => (words[0] === 'GET' ? bulk(words[1]) : UNKNOWN))
    const client = await connectTo(port)
    port.reads.length = 0
    const keys = Array.from({ length: 300 }, (_, i) => `key:${i}`)
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys)
    expect(port.reads).toEqual([300])
  })

  it('go to the primary of their key, and several keys to each node at once', async () => {
    const isFirst = (key: string): boolean => {
      const bytes = latin1Bytes(key)
      return (redisHash.hash(bytes, 0, bytes.length) & 15) < 8
    }
    const values: Answer = (words) =>
      words[0] === 'MGET'
        ? `*${words.length - 1}\r\n${words.slice(1).map(bulk).join('')}`
        : bulk(words[1])
    const [a, b] = [await open(UNANSWERED), await open(UNANSWERED)]
    const rows = Array.from({ length: 16 }, (_, i) => `*3\r\n:${i}\r\n:1\r\n:${i < 8 ? 0 : 1}\r\n`)
    const head = [bulk('oc.table'), bulk('c'), bulk('redis'), ':15\r\n'].join('')
    const nodes = `*4\r\n${['a', a.address, 'b', b.address].map(bulk).join('')}`
    const table = `6\r\n${head}${nodes}*16\r\n${rows.join('')}`
    a.answer = b.answer = withTable(() => table, values)
    const client = await connectTo(a)
    const keys = Array.from({ length: 40 }, (_, i) => `key:${i}`)
    for (const key of keys) expect(await client.get(key)).toBe(key)
    const gets = (port: Port): string[] => port.heardOf('GET').map((line) => line.slice(4))
    expect(gets(a)).toEqual(keys.filter(isFirst))
    expect(gets(b)).toEqual(keys.filter((key) => !isFirst(key)))
    expect(await client.mget(...keys)).toEqual(keys)
    expect(a.heardOf('MGET')).toEqual([`MGET ${keys.filter(isFirst).join(' ')}`])
    expect(b.heardOf('MGET')).toHaveLength(1)
  })

  it('follow MOVED, and go there at once the next time', async () => {
    const port = await open(() => bulk('v'))
    const other = await open(UNANSWERED)
    other.answer = withTable(
      () => tableOf(other),
      () => `-MOVED 1 ${port.address}\r\n`
    )
    const client = await connectTo(other)
    expect(await client.get('k')).toBe('v')
    expect(await client.get('k')).toBe('v')
    expect([other.heardOf('GET').length, port.heardOf('GET').length]).toEqual([1, 2])
    // In a circle they give up.
    port.answer = () => `-MOVED 1 ${other.address}\r\n`
    await expect(client.get('k')).rejects.toMatchObject({ code: 'OC_REFUSED', kind: 'MOVED' })
  })

  it('wait while a node says that it cannot for the moment', async () => {
    let refusals = 3
    const port = await open((words) => {
      if (words[0] !== 'INCRBY') return UNKNOWN
      return refusals-- > 0 ? '-TRYAGAIN later\r\n' : ':1\r\n'
    })
    const client = await connectTo(port)
    expect(await client.incr('k')).toBe(1)
    expect(port.heardOf('INCRBY')).toHaveLength(4)
  })

  it('are refused when too many wait, and when the client is closed', async () => {
    const port = await open((words) => (words[0] === 'GET' ? undefined : UNKNOWN))
    const client = await connectTo(port, { maxPending: 3 })
    const waiting = [client.get('1'), client.get('2'), client.get('3')]
    await expect(client.get('4')).rejects.toMatchObject({ code: 'OC_BUSY' })
    await until(() => port.heardOf('GET').length === 3)
    for (const socket of port.sockets) socket.write(bulk('v').repeat(3))
    const closed = client.close()
    await expect(client.get('5')).rejects.toMatchObject({ code: 'OC_CLOSED' })
    expect(await Promise.all(waiting)).toEqual(['v', 'v', 'v'])
    await closed
  })
})

const UNANSWERED: Answer = () => undefined

describe('when a node is lost', () => {
  it('reads are sent again, writes are not, unless the caller allows it', async () => {
    const port = await open((words, socket) => {
      if (words[0].startsWith('OC.')) return UNKNOWN
      if (words[1].startsWith('safe') && port.heard.includes('seen')) return '+OK\r\n'
      port.heard.push('seen')
      socket.destroy()
      return undefined
    })
    const client = await connectTo(port)
    expect(await client.get('safe read')).toBe('OK')
    port.heard.length = 0
    await expect(client.set('k', 'v')).rejects.toMatchObject({ code: 'OC_UNKNOWN' })
    port.heard.length = 0
    await expect(client.with({ repeatWrites: true }).incr('k')).rejects.toThrow('may have happened')
    port.heard.length = 0
    expect(await client.with({ repeatWrites: true }).set('safe', 'v')).toBe(true)
    expect(port.heardOf('SET')).toHaveLength(2)
  })

  it('commands wait for it to come back, up to their time', async () => {
    const port = await open((words) => (words[0] === 'SET' ? '+OK\r\n' : UNKNOWN))
    const client = await connectTo(port)
    await port.close()
    await until(() => client.view().connected.length === 0)
    const patient = client.set('k', 'v')
    await expect(client.with({ timeoutMs: 200 }).set('k', 'w')).rejects.toMatchObject({
      code: 'OC_TIMEOUT'
    })
    const again = await new Port((words) => (words[0] === 'SET' ? '+OK\r\n' : UNKNOWN)).open(
      port.port
    )
    ports.push(again)
    expect(await patient).toBe(true)
    expect(again.heardOf('SET')).toEqual(['SET k v'])
  })

  it('the backup is asked', async () => {
    const backup = await open(UNANSWERED)
    const primary = await open(UNANSWERED)
    const answer: Answer = (words) => (words[0] === 'SET' ? '+OK\r\n' : bulk('from b'))
    backup.answer = withTable(() => tableOf(primary, backup), answer)
    primary.answer = backup.answer
    const client = await connectTo(primary)
    await until(() => client.view().connected.length === 2)
    await primary.close()
    expect(await client.get('k')).toBe('from b')
    expect(await client.set('k', 'v')).toBe(true)
    expect(backup.heardOf('SET')).toEqual(['SET k v'])
  })

  it('a node that answers nonsense is given up', async () => {
    const port = await open((words) => (words[0] === 'GET' ? '?what\r\n' : UNKNOWN))
    const client = await connectTo(port, { timeoutMs: 300 })
    await expect(client.get('k')).rejects.toMatchObject({ code: 'OC_TIMEOUT' })
    expect(port.heardOf('GET').length).toBeGreaterThan(1)
    await expect(client.set('k', 'v'))
      .resolves.toBe(true)
      .catch(() => undefined)
  })
})

describe('when a node falls silent', () => {
  async function silentPrimary(): Promise<{ primary: Port; backup: Port; client: Client }> {
    const backup = await open(UNANSWERED)
    const primary = await open(UNANSWERED)
    backup.answer = withTable(
      () => tableOf(primary, backup),
      (words) => (words[0] === 'GET' ? bulk('from b') : '+OK\r\n')
    )
    primary.answer = withTable(() => tableOf(primary, backup), UNANSWERED)
    const client = await connectTo([primary, backup], { timeoutMs: 1000 })
    await until(() => client.view().connected.length === 2)
    return { primary, backup, client }
  }

  it('reads go to the backup, which is told, and writes under way are in doubt', async () => {
    const { primary, backup, client } = await silentPrimary()
    const write = client.set('k', 'v')
    const read = client.get('k')
    write.catch(() => undefined)
    expect(await read).toBe('from b')
    expect(backup.heardOf('OC.WITNESS')).toHaveLength(1)
    expect(backup.heardOf('OC.WITNESS')[0]).toMatch(/^OC\.WITNESS \d+ 1$/)
    // What is new does not go there at all.
    expect(await client.set('k', 'w')).toBe(true)
    expect(primary.heardOf('SET')).toEqual(['SET k v'])
    expect(client.view().connected).toEqual([backup.address])
    await expect(write).rejects.toMatchObject({ code: 'OC_UNKNOWN' })
  })

  it('late answers go to whom they are for, and the node is asked again', async () => {
    const { primary, client } = await silentPrimary()
    const write = client.incr('k')
    const read = client.get('k')
    expect(await read).toBe('from b')
    for (const socket of primary.sockets) socket.write(`:7\r\n${bulk('late')}`)
    expect(await write).toBe(7)
    primary.answer = () => bulk('from p')
    await until(() => client.view().connected.length === 2)
    expect(await client.get('k')).toBe('from p')
  })
})

describe('the table', () => {
  it('is followed by pushes, to a larger mask and to other nodes', async () => {
    const second = await open(() => bulk('from second'))
    const first = await open(UNANSWERED)
    first.answer = withTable(
      () => tableOf(first),
      () => bulk('from first')
    )
    second.answer = withTable(
      () => tableOf(second),
      () => bulk('from second')
    )
    const client = await connectTo(first)
    expect(await client.get('k')).toBe('from first')
    expect(client.view()).toMatchObject({ cluster: 'c1', buckets: 16, nodes: [first.address] })
    const push = `>${tableOf(second, first, { mask: 255, epoch: 2 })}`
    for (const socket of first.sockets) socket.write(push)
    await until(() => client.view().buckets === 256)
    expect(await client.get('k')).toBe('from second')
    expect(client.view().nodes).toEqual([first.address, second.address].sort())
  })
})

describe('a watch', () => {
  const event = (seq: number, key: string): string =>
    `>5\r\n${bulk('oc.event')}:3\r\n:${seq}\r\n${bulk('set')}${bulk(key)}`

  it('hears each event once, from whichever node tells it first, and of gaps', async () => {
    const backup = await open(UNANSWERED)
    const primary = await open(UNANSWERED)
    const answer: Answer = (words) =>
      words[0] === 'OC.TABLE' ? `*${tableOf(primary, backup)}` : '+OK\r\n'
    primary.answer = backup.answer = answer
    const client = await connectTo([primary, backup])
    await until(() => backup.heardOf('OC.TABLE').length + primary.heardOf('OC.TABLE').length === 2)
    const [users, all] = [client.watch('user:*'), client.watch('*')]
    await Promise.all([users.ready, all.ready])
    const tell = (port: Port, ...bytes: string[]): void => {
      for (const socket of port.sockets) socket.write(bytes.join(''))
    }
    tell(primary, event(1, 'user:1'), event(2, 'other'))
    expect((await users.next()).value).toEqual({ kind: 'set', key: 'user:1', bucket: 3, seq: 1 })
    expect((await all.next()).value).toMatchObject({ key: 'user:1' })
    expect((await all.next()).value).toMatchObject({ key: 'other' })
    tell(backup, event(1, 'user:1'), event(2, 'other'), event(3, 'user:ü'))
    expect((await all.next()).value).toMatchObject({ key: 'user:ü', seq: 3 })
    expect((await users.next()).value).toMatchObject({ key: 'user:ü', seq: 3 })
    // One of two is enough.
    await backup.close()
    tell(primary, event(3, 'user:ü'), event(4, 'user:4'))
    expect((await users.next()).value).toMatchObject({ seq: 4 })
    tell(primary, `>1\r\n${bulk('oc.gap')}`)
    expect((await users.next()).value).toMatchObject({ kind: 'gap' })
    // With none left, something may have been missed.
    for (const socket of primary.sockets) socket.destroy()
    expect((await users.next()).value).toEqual({ kind: 'gap', reason: 'no node was connected' })
    await users.return()
    await until(() => primary.heardOf('OC.UNWATCH').length === 1)
  })

  it('that no node takes is an error', async () => {
    const port = await open((words) =>
      words[0] === 'OC.WATCH' ? '-ERR no more than 1 watches\r\n' : UNKNOWN
    )
    const client = await connectTo(port)
    await expect(client.watch('*').next()).rejects.toThrow('no more than 1')
  })
})
