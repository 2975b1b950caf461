import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/config/address.js'
import { startNode } from '../../src/index.js'
import { havePrograms } from '../support/packages.js'
import { exchange, Processes, until, type NodeProcess } from './process.js'

const REDIS_CLI = '/usr/bin/redis-cli'
const hasRedisCli = havePrograms([REDIS_CLI], ['redis-tools'])

describe('one node', () => {
  const processes = new Processes()
  let node: NodeProcess
  beforeAll(async () => void (node = await processes.start('a')))
  afterAll(() => processes.end())

  function open(): Socket {
    return connect(parseAddress(node.address)!)
  }

  test('the first line on stdout says that it serves and where', () => {
    expect(node.stdout).toMatch(
      /^opencluster ready name=a resp=127\.0\.0\.1:\d+ http=127\.0\.0\.1:\d+\n$/
    )
  })

  test('SET and GET by a raw socket, byte by byte and pipelined', async () => {
    const commands = '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n'
    const socket = open()
    let received = ''
    socket.on('data', (bytes) => (received += bytes.toString()))
    for (const letter of commands) await new Promise((sent) => socket.write(letter, sent))
    await until('both replies', () => received === '+OK\r\n$5\r\nhello\r\n')
    socket.write(commands.repeat(500))
    await until('all replies', () => received === '+OK\r\n$5\r\nhello\r\n'.repeat(501))
    socket.destroy()
  })

  test('a value larger than one read, and than one write', async () => {
    const connection = await processes.connect(node)
    const value = 'x'.repeat(3_000_000)
    expect(await connection.call('SET', 'large', value)).toBe('OK')
    expect(await connection.call('GET', 'large')).toBe(value)
  })

  test('whoever sends and closes still gets the replies', async () => {
    const socket = open()
    let received = ''
    socket.on('data', (bytes) => (received += bytes.toString()))
    socket.end('PING\r\n')
    await until('the reply', () => received === '+PONG\r\n')
  })

  test.runIf(hasRedisCli || process.env['CI'] === 'true')('redis-cli', () => {
    const { host, port } = parseAddress(node.address)!
    const cli = (...words: string[]): string =>
      spawnSync(REDIS_CLI, ['-h', host, '-p', String(port), ...words], { encoding: 'utf8' }).stdout
    expect(cli('PING')).toBe('PONG\n')
    expect(cli('SET', 'cli', 'a b')).toBe('OK\n')
    expect(cli('GET', 'cli')).toBe('a b\n')
  })

  test.each([
    ['a huge count', '*2147483648\r\n', '-ERR Protocol error: invalid multibulk length\r\n'],
    ['a huge length', '*1\r\n$99999999999\r\n', '-ERR Protocol error: invalid bulk length\r\n'],
    ['not a command', '*1\r\n+x\r\n', "-ERR Protocol error: expected '$', got '+'\r\n"],
    ['a line without end', 'x'.repeat(70_000), '-ERR Protocol error: too big inline request\r\n'],
    ['HTTP', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'HTTP/1.1 400 Bad Request\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc', '-ERR this port does not speak TLS\r\n'],
    ['a link of another version', 'OC.LINK 99 b 0\r\n', '-OC_VERSION this node speaks'],
    ['a proof of nothing', 'OC.LINK 1 b x\r\n', '-OC_LINK not a proper greeting\r\n']
  ])('%s: an answer, a closed connection, and the node goes on', async (_, bytes, answer) => {
    expect(await exchange(node.address, Buffer.from(bytes, 'latin1'))).toContain(answer)
    const connection = await processes.connect(node)
    expect(await connection.call('PING')).toBe('PONG')
    expect(node.isRunning).toBe(true)
  })

  test('a client that does not read is not read from either, others are served, and it may come back', async () => {
    const other = await processes.connect(node)
    const socket = open()
    socket.pause()
    const text = 'x'.repeat(64 * 1024)
    const command = `*2\r\n$4\r\nPING\r\n$${text.length}\r\n${text}\r\n`
    const reply = `$${text.length}\r\n${text}\r\n`
    const count = 800
    for (let i = 0; i < count; i++) socket.write(command)
    // Once the node has stopped, what it has not read stays here, turn after turn.
    let before = -1
    await until('the node to stop reading', async () => {
      for (let i = 0; i < 10; i++) expect(await other.call('PING')).toBe('PONG')
      const stopped = socket.writableLength === before
      before = socket.writableLength
      return stopped
    })
    expect(before).toBeGreaterThan(0)
    let received = 0
    socket.on('data', (bytes) => (received += bytes.length))
    socket.resume()
    await until('all replies', () => received === count * reply.length)
    socket.destroy()
  })

  test('status says what one node is', async () => {
    const status = await node.status()
    expect(status).toMatchObject({
      node: 'a',
      mask: '0x00FF',
      copies: 2,
      balanced: true,
      withoutBackup: 256,
      lost: 0,
      moves: []
    })
    expect(status.nodes).toMatchObject([
      { name: 'a', resp: node.address, state: 'alive', primaries: 256, backups: 0, weight: 1 }
    ])
    expect(status.buckets).toHaveLength(256)
  })

  test('get, set and del from the shell', async () => {
    const shell = async (...args: string[]) => {
      const process = processes.run(...args, '--node', node.address)
      const { code } = await process.ended
      return { code, stdout: process.stdout }
    }
    expect(await shell('set', 'shell', 'a value', '--ttl', '60')).toEqual({
      code: 0,
      stdout: 'OK\n'
    })
    expect(await shell('get', 'shell')).toEqual({ code: 0, stdout: 'a value\n' })
    expect(await shell('del', 'shell')).toEqual({ code: 0, stdout: '1\n' })
    expect(await shell('get', 'shell')).toEqual({ code: 1, stdout: '' })
  })
})

describe('starting and ending', () => {
  const processes = new Processes()
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-start-'))
  afterEach(() => processes.end())
  afterAll(() => rmSync(folder, { recursive: true }))

  test('a node that is alone ends at once, with 0', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const node = await processes.start('a')
      node.signal(signal)
      expect(await node.ended).toEqual({ code: 0, signal: null })
    }
  })

  test('another address than this machine needs a secret', async () => {
    const node = processes.launch('a', '--host', '0.0.0.0')
    expect(await node.ended).toEqual({ code: 2, signal: null })
    expect(node.stderr).toBe(
      'opencluster start: --host 0.0.0.0: other machines could join; give --secret-file FILE, or listen on 127.0.0.1\n'
    )
  })

  test('a port that is taken is one line and 1', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const node = processes.run('start', '--port', String(port))
    expect(await node.ended).toEqual({ code: 1, signal: null })
    expect(node.stderr).toBe(
      `opencluster start: 127.0.0.1:${port} is taken by another process; give another --port, or 0 for any free one\n`
    )
    server.close()
  })

  test('all wrong options are told at once', async () => {
    const config = join(folder, 'config.json')
    writeFileSync(config, '{"copies": 9, "colour": "red"}')
    const node = processes.run('start', '--port', 'x', '--config', config, '--hash', 'sha')
    expect((await node.ended).code).toBe(2)
    expect(node.stderr.split('\n')).toEqual([
      'opencluster start: --port x: must be a whole number from 0 to 65535',
      'opencluster start: --hash sha: must be redis or md5',
      `opencluster start: ${config}: copies 9: must be a whole number from 1 to 4`,
      `opencluster start: ${config}: colour: no such option`,
      ''
    ])
  })

  test('nobody to be reached at --join: it says so and keeps trying, and ends when told', async () => {
    const node = processes.launch('a', '--join', '127.0.0.1:1')
    await until('a word about it', () => node.stderr.includes('cannot reach a node'))
    expect(node.stdout).toBe('')
    node.signal('SIGTERM')
    expect((await node.ended).code).toBe(0)
  })

  test('a node inside this process', async () => {
    const node = await startNode({ port: 0, name: 'embedded' })
    const reply = await exchange(node.address, 'PING\r\nOC.NONSENSE\r\n*1\r\n+\r\n')
    expect(reply).toMatch(/^\+PONG\r\n-ERR unknown command/)
    expect(node.status().nodes).toHaveLength(1)
    expect(await node.leave()).toEqual({ left: true, copies: 0 })
    await expect(exchange(node.address, 'PING\r\n')).rejects.toThrow('ECONNREFUSED')
    await expect(startNode({ port: 0, host: '0.0.0.0' })).rejects.toThrow('give --secret-file')
  })
})
