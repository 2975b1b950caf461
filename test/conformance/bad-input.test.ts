/**
 * Those who do not know the protocol, do not follow it, or do not care, at a real process: each gets a clear error and a
 * closed connection, the log says so now and then, memory stays bounded, and everyone else is served.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { Random } from '../../src/core/random.js'
import { exchange, NodeProcess, Processes, until } from '../integration/process.js'

const MB = 1024 * 1024
const processes = new Processes()
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await processes.end()
})

function portOf(node: NodeProcess): number {
  return Number(node.address.split(':')[1])
}

function open(node: NodeProcess): Socket {
  const socket = connect({ port: portOf(node), host: '127.0.0.1' })
  socket.on('error', () => undefined)
  sockets.push(socket)
  return socket
}

function memoryOf(node: NodeProcess): number {
  const text = readFileSync(`/proc/${node.pid}/status`, 'latin1')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) * 1024
}

function linesOf(node: NodeProcess, text: string): number {
  return node.stderr.split('\n').filter((line) => line.includes(text)).length
}

const IDLE = 10_000
/** Opens as many connections as it is told, says how many there are, and keeps them. */
const CROWD = `
const { connect } = require('node:net')
const [port, count] = process.argv.slice(1).map(Number)
let ready = 0, refused = ''
const next = (left) => {
  if (left === 0) return
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('PING\\r\\n'))
  socket.once('data', (bytes) => {
    if (String(bytes) === '+PONG\\r\\n') ready++
    else refused = String(bytes)
    if ((ready + (refused === '' ? 0 : 1)) % 500 === 0 || refused !== '') console.log(ready, JSON.stringify(refused))
    next(left - 1)
  })
  socket.on('error', (error) => { console.log('error', error.code); process.exit(1) })
}
const LANES = 50
for (let i = 0; i < LANES; i++) next(count / LANES)
`
const RAISE = ['bash', '-c', 'ulimit -n 12000 && exec "$@"', '--']

it('ten thousand idle connections', { timeout: 300_000 }, async (test) => {
  if (spawnSync(RAISE[0], [...RAISE.slice(1), 'true']).status !== 0) {
    test.skip('the limit of open files cannot be raised to 12,000 here')
    return
  }
  const args = ['start', '--port', '0', '--http-port', 'off', '--name', 'a']
  const node = new NodeProcess([...args, '--max-connections', String(IDLE + 1)], {}, RAISE)
  try {
    await node.serves()
    const other = await processes.connect(node)
    expect(await other.call('PING')).toBe('PONG')
    const before = memoryOf(node)
    const [program, ...words] = [...RAISE, process.execPath, '-e', CROWD]
    const crowd = spawn(program, [...words, String(portOf(node)), String(IDLE)])
    let said = ''
    crowd.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
    try {
      const limitMs = performance.now() + 240_000
      while (!said.includes(`${IDLE} ""`)) {
        if (crowd.exitCode !== null || performance.now() > limitMs) throw new Error(said)
        expect(await other.call('SET', 'key', 'x')).toBe('OK')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      // Nobody else comes in, and is told why; who is in is served.
      expect(await exchange(node.address, 'PING\r\n')).toBe(
        '-ERR max number of clients reached\r\n'
      )
      expect(await other.call('GET', 'key')).toBe('x')
      expect((memoryOf(node) - before) / IDLE).toBeLessThan(30 * 1024)
    } finally {
      crowd.kill('SIGKILL')
    }
    await until('the crowd to be forgotten', async () => {
      const info = await other.call('INFO', 'clients')
      return typeof info === 'string' && info.includes('connected_clients:1\r')
    })
    expect(await exchange(node.address, 'PING\r\n*1\r\n+\r\n')).toContain('+PONG')
  } finally {
    await node.kill()
  }
})

it('more connections than there may be open files', async () => {
  const few = ['bash', '-c', 'ulimit -n 256 && exec "$@"', '--']
  const node = new NodeProcess(
    ['start', '--port', '0', '--http-port', 'off', '--name', 'a'],
    {},
    few
  )
  try {
    await node.serves()
    const other = await processes.connect(node)
    const uptime = async (): Promise<number> => {
      const info = await other.call('INFO', 'server')
      return Number(/uptime_in_seconds:(\d+)/.exec(info as string)?.[1])
    }
    const crowd = Array.from({ length: 300 }, () => open(node))
    await until('no file left', () => {
      return Promise.resolve(readdirSync(`/proc/${node.pid}/fd`).length >= 255)
    })
    const since = await uptime()
    // Its own figures are taken once a second, and must not need a file.
    await until('three seconds of it', async () => (await uptime()) >= since + 3)
    expect(await other.call('SET', 'key', 'x')).toBe('OK')
    for (const socket of crowd) socket.destroy()
    // Whoever comes while it has no file yet is turned away, with a reset.
    await until('somebody new', async () => {
      const reply = await exchange(node.address, 'PING\r\n*1\r\n+\r\n').catch(() => '')
      return reply.includes('+PONG')
    })
  } finally {
    await node.kill()
  }
})

it('announced lengths take no memory, and what is sent of them only while it is sent', async () => {
  const node = await processes.start('a')
  const other = await processes.connect(node)
  await other.call('PING')
  const before = memoryOf(node)
  const head = '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870000\r\n'
  for (let i = 0; i < 100; i++) open(node).write(head + 'x'.repeat(10_000))
  await until('a hundred clients', async () => {
    const info = await other.call('INFO', 'clients')
    return typeof info === 'string' && info.includes('connected_clients:101\r')
  })
  expect(memoryOf(node) - before).toBeLessThan(64 * MB)
  expect(await exchange(node.address, '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$600000000\r\n')).toBe(
    '-ERR Protocol error: invalid bulk length\r\n'
  )
  expect(await other.call('GET', 'k')).toBeNull()
})

it('a listener that does not read is let go, and the others hear everything', async () => {
  const node = await processes.start('a')
  const publisher = await processes.connect(node)
  const listeners = [open(node), open(node)]
  let heard = 0
  for (const listener of listeners) listener.write('SUBSCRIBE news\r\n')
  listeners[1].on('data', (bytes) => (heard += bytes.length))
  await until('two who listen', async () => {
    const reply = await publisher.call('PUBSUB', 'NUMSUB', 'news')
    return Array.isArray(reply) && reply[1] === 2
  })
  listeners[0].pause()
  let isClosed = false
  listeners[0].on('close', () => (isClosed = true))
  const before = memoryOf(node)
  const text = 'x'.repeat(256 * 1024)
  let count = 0
  await until('the one who does not read to be let go', async () => {
    count++
    return (await publisher.call('PUBLISH', 'news', text)) === 1
  })
  expect(count).toBeLessThan(600)
  expect(memoryOf(node) - before).toBeLessThan(400 * MB)
  await until('everything to be heard by the other', () => heard > count * text.length)
  listeners[0].resume()
  await until('the connection to be closed', () => isClosed)
})

it('random bytes and browsers: an answer, a closed connection, and few lines in the log', async () => {
  const node = await processes.start('a')
  const other = await processes.connect(node)
  const random = new Random(7)
  for (let i = 0; i < 150; i++) {
    const bytes = Uint8Array.from({ length: 1 + random.below(2000) }, () => random.below(256))
    // Its beginning makes it a protocol error; the rest may be anything.
    const answer = await exchange(node.address, Buffer.concat([Buffer.from('*1\r\n+'), bytes]))
    expect(answer).toMatch(/^-ERR Protocol error: /)
    expect(await exchange(node.address, 'GET / HTTP/1.1\r\n\r\n')).toContain('400 Bad Request')
    if (i % 10 === 0) expect(await other.call('PING')).toBe('PONG')
  }
  expect(linesOf(node, 'hung up')).toBeGreaterThan(0)
  expect(linesOf(node, 'refused a connection')).toBeGreaterThan(0)
  expect(node.stderr.split('\n').length).toBeLessThan(40)
})

it('a node with another secret is turned away, both sides say so, and rarely', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-secret-'))
  const [one, another] = ['one', 'another'].map((name) => {
    const path = join(folder, name)
    writeFileSync(path, `the secret of ${name}, which is long enough\n`, { mode: 0o600 })
    return path
  })
  try {
    const node = await processes.start('a', '--secret-file', one)
    const stranger = processes.launch('b', '--secret-file', another, '--join', node.address)
    await until('both to say so', () =>
      [node, stranger].every(({ stderr }) => /secret/.test(stderr))
    )
    const connection = await processes.connect(node)
    for (let i = 0; i < 100; i++) expect(await connection.call('INCR', 'n')).toBe(i + 1)
    expect((await node.ownStatus()).nodes).toHaveLength(1)
    expect(linesOf(node, 'secret')).toBeLessThan(5)
    expect(stranger.stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
