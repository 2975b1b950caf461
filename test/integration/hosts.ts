/**
 * Hosts for the tests: network namespaces on one bridge, reached from the test by one link, and cut from each other by
 * routes that swallow what is sent. Only addresses of these namespaces are used. Everything goes with the bridge's
 * namespace, however the test ended; names and the network's number carry the number of this process.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { havePrograms } from '../support/packages.js'

export function canMakeHosts(): boolean {
  const isRoot = process.getuid?.() === 0
  havePrograms(['/sbin/ip'], ['iproute2'])
  const name = `och${process.pid}t`
  const made = isRoot && spawnSync('ip', ['netns', 'add', name]).status === 0
  if (made) spawnSync('ip', ['netns', 'del', name])
  if (!made && process.env['CI'] === 'true') {
    throw new Error('root, iproute2 and network namespaces are needed')
  }
  return made
}

function ip(...words: string[]): void {
  const { status, stderr, error } = spawnSync('ip', words, { encoding: 'utf8', timeout: 20_000 })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr}`)
}

export class Hosts {
  readonly #prefix = `och${process.pid}`
  readonly #network = `10.98.${process.pid % 250}`
  readonly #names: string[] = []

  constructor(count: number) {
    const bridge = this.#bridge
    ip('netns', 'add', bridge)
    ip('-n', bridge, 'link', 'add', 'br0', 'type', 'bridge')
    ip('-n', bridge, 'link', 'set', 'br0', 'up')
    this.#join(this.#door, undefined, 254)
    for (let number = 1; number <= count; number++) {
      const name = `${this.#prefix}h${number}`
      ip('netns', 'add', name)
      this.#names.push(name)
      ip('-n', name, 'link', 'set', 'lo', 'up')
      this.#join('eth0', name, number)
    }
  }

  /** The address of a host, from 1 on. */
  address(host: number): string {
    return `${this.#network}.${host}`
  }

  /** The command that runs something on a host. */
  enter(host: number): string[] {
    return ['ip', 'netns', 'exec', this.#names[host - 1]]
  }

  /** On one host, a name that stands for several others. */
  call(host: number, name: string, others: readonly number[]): void {
    const folder = `/etc/netns/${this.#names[host - 1]}`
    mkdirSync(folder, { recursive: true })
    const lines = others.map((other) => `${this.address(other)} ${name}\n`)
    writeFileSync(`${folder}/hosts`, `127.0.0.1 localhost\n${lines.join('')}`)
  }

  /** Nothing goes from one to the other any more. */
  cutOneWay(from: number, to: number): void {
    const name = this.#names[from - 1]
    ip('-n', name, 'route', 'add', 'blackhole', `${this.address(to)}/32`)
    ip('-n', name, 'route', 'flush', 'cache')
  }

  cut(one: number, others: readonly number[]): void {
    for (const other of others) {
      this.cutOneWay(one, other)
      this.cutOneWay(other, one)
    }
  }

  mend(): void {
    for (const name of this.#names) {
      for (let host = 1; host <= this.#names.length; host++) {
        spawnSync('ip', ['-n', name, 'route', 'del', 'blackhole', `${this.address(host)}/32`])
      }
    }
  }

  /** Processes on the hosts must have ended before. */
  end(): void {
    for (const name of this.#names) {
      spawnSync('ip', ['netns', 'del', name])
      rmSync(`/etc/netns/${name}`, { recursive: true, force: true })
    }
    spawnSync('ip', ['link', 'del', this.#door])
    spawnSync('ip', ['netns', 'del', this.#bridge])
  }

  get #bridge(): string {
    return `${this.#prefix}b`
  }

  /** The test's own end; interface names have at most 15 letters. */
  get #door(): string {
    return `och${process.pid % 10_000_000}`
  }

  #join(name: string, host: string | undefined, number: number): void {
    const at = host === undefined ? [] : ['-n', host]
    const peer = `v${number}`
    ip(...at, 'link', 'add', name, 'type', 'veth', 'peer', 'name', peer, 'netns', this.#bridge)
    ip('-n', this.#bridge, 'link', 'set', peer, 'master', 'br0', 'up')
    ip(...at, 'addr', 'add', `${this.address(number)}/24`, 'dev', name)
    ip(...at, 'link', 'set', name, 'up')
  }
}
