/**
 * Machines for the tests: network namespaces on one bridge that lives in a namespace of its own, so nothing is added to
 * the network of the machine the tests run on. Names carry the number of this process. Whatever happens in a test, `end`
 * ends every process inside by its id and takes the namespaces away.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { inject } from 'vitest'

const WAIT_MS_MAX = 180_000
const LOOK_MS = 100

export function run(argv: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync(argv[0], argv.slice(1), {
    encoding: 'utf8',
    input,
    timeout: 60_000
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${argv.join(' ')}: ${status ?? ''} ${stderr} ${stdout}`)
  return stdout
}

/** What it printed; undefined when it fails. */
export function tryRun(argv: readonly string[]): string | undefined {
  try {
    return run(argv)
  } catch {
    return undefined
  }
}

/** Whether install.ts found, or put there, all that these tests need. */
export function isPrepared(what: 'gridEngine' | 'slurm' | 'ssh' | 'pictures'): boolean {
  return inject('prepared').includes(what)
}

export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  limitMs = WAIT_MS_MAX
): Promise<void> {
  const limit = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > limit) {
      throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`)
    }
    await pause(LOOK_MS)
  }
}

/** A bridge with machines; the first is the master's, whose namespace holds the bridge. */
export class Network {
  readonly master: string
  readonly prefix: string

  constructor(kind: string) {
    this.prefix = `o${kind}${process.pid}n`
    this.master = `o${kind}${process.pid}m`
    run(['ip', 'netns', 'add', this.master])
    mkdirSync(`/etc/netns/${this.master}`, { recursive: true })
    writeFileSync(this.#hosts(this.master), `127.0.0.1 localhost\n10.99.0.1 ${this.master}\n`)
    const ip = (...words: string[]): string => run(['ip', '-n', this.master, ...words])
    ip('link', 'set', 'lo', 'up')
    // An address of its own, or it would take another one each time a machine goes, and the others would not find it.
    ip('link', 'add', 'br0', 'address', '02:00:00:00:00:01', 'type', 'bridge')
    ip('addr', 'add', '10.99.0.1/24', 'dev', 'br0')
    ip('link', 'set', 'br0', 'up')
  }

  /** Shell functions for hooks: the same machines, made and ended by the balancer under test. */
  get script(): string {
    return [
      `MASTER=${this.master} PREFIX=${this.prefix}`,
      // Runs words on a machine, with its name as hostname.
      'on() { n=$1; shift; ip netns exec "$n" unshare --uts sh -c \'hostname "$0"; exec "$@"\' "$n" "$@"; }',
      'number_of() { echo "${1#"$PREFIX"}" | sed "s/^0*//"; }',
      'address_of() { echo "10.99.0.$((10 + $(number_of "$1")))"; }',
      'machine_up() {',
      '  v=v$(number_of "$1")',
      '  [ -e "/etc/netns/$1/hosts" ] || { mkdir -p "/etc/netns/$1"; cat "/etc/netns/$MASTER/hosts" > "/etc/netns/$1/hosts"; }',
      '  [ -e "/var/run/netns/$1" ] || ip netns add "$1" || return 1',
      '  ip -n "$1" link set lo up',
      '  if ! ip -n "$1" link show eth0 > /dev/null 2>&1; then',
      '    ip -n "$MASTER" link del "$v" 2>/dev/null',
      '    ip -n "$MASTER" link add "$v" type veth peer name eth0 netns "$1" || return 1',
      '  fi',
      '  ip -n "$MASTER" link set "$v" master br0 up',
      '  ip -n "$1" addr replace "$(address_of "$1")/24" dev eth0 && ip -n "$1" link set eth0 up',
      '}',
      'machine_down() {',
      '  [ -e "/var/run/netns/$1" ] || return 0',
      '  for p in $(ip netns pids "$1"); do kill -9 "$p" 2>/dev/null; done',
      '  for i in 1 2 3 4 5 6 7 8 9; do [ -z "$(ip netns pids "$1")" ] && break; sleep 0.1; done',
      '  ip -n "$MASTER" link del "v$(number_of "$1")" 2>/dev/null',
      '  ip netns del "$1"; rm -rf "/etc/netns/$1"',
      '}',
      'machines() { ls /var/run/netns | grep "^$PREFIX" || true; }',
      // Mounted over /etc/hosts in the namespaces, so the files are changed and never replaced. A hook of a balancer that
      // was killed may still run beside one of the next, hence the lock.
      'hosts_files() { for f in /etc/netns/$MASTER /etc/netns/$PREFIX*; do [ -e "$f/hosts" ] && echo "$f/hosts"; done; }',
      'hosts_add() { (flock 9',
      '  for f in $(hosts_files); do grep -q " $1\\$" "$f" || echo "$(address_of "$1") $1" >> "$f"; done',
      ') 9> "/run/$MASTER.lock"; }',
      'hosts_remove() { (flock 9',
      '  for f in $(hosts_files); do t=$(grep -v " $1\\$" "$f"); echo "$t" > "$f"; done',
      ') 9> "/run/$MASTER.lock"; }',
      ''
    ].join('\n')
  }

  /** Programs of the same names in a folder that run where the master is. */
  writePrograms(folder: string, environment: string, programs: readonly string[]): void {
    const enter = `exec ip netns exec ${this.master} unshare --uts sh -c 'hostname "$0"; exec "$@"'`
    for (const program of programs) {
      const call = `${enter} ${this.master} /usr/bin/${program} "$@"`
      writeFileSync(join(folder, program), `#!/bin/sh\n${environment}\ncd /tmp\n${call}\n`, {
        mode: 0o755
      })
    }
  }

  /** Runs on a machine. */
  on(machine: string, argv: readonly string[], input = ''): string {
    const enter = ['unshare', '--uts', 'sh', '-c', 'hostname "$0"; exec "$@"', machine]
    return run(['ip', 'netns', 'exec', machine, ...enter, ...argv], input)
  }

  machines(): string[] {
    return run(['ip', 'netns', 'list'])
      .split('\n')
      .map((line) => line.split(' ')[0])
      .filter((name) => name.startsWith(this.prefix))
  }

  /** All processes of a machine at once, as when its power is cut. */
  kill(machine: string): void {
    for (const pid of this.pids(machine)) kill(pid)
  }

  remove(machine: string): void {
    this.kill(machine)
    const veth = `v${Number(machine.slice(this.prefix.length))}`
    if (machine !== this.master) spawnSync('ip', ['-n', this.master, 'link', 'del', veth])
    spawnSync('ip', ['netns', 'del', machine])
    rmSync(`/etc/netns/${machine}`, { recursive: true, force: true })
  }

  pids(machine: string): number[] {
    if (!existsSync(`/var/run/netns/${machine}`)) return []
    return run(['ip', 'netns', 'pids', machine]).split('\n').filter(Boolean).map(Number)
  }

  async end(): Promise<void> {
    const all = [...this.machines(), this.master]
    for (const machine of all) this.kill(machine)
    await until('the machines to end', () => all.every((name) => this.pids(name).length === 0))
    for (const machine of all) this.remove(machine)
    rmSync(`/run/${this.master}.lock`, { force: true })
  }

  readHosts(machine: string): string {
    return readFileSync(this.#hosts(machine), 'utf8')
  }

  #hosts(machine: string): string {
    return `/etc/netns/${machine}/hosts`
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
