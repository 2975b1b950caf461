/**
 * Before the tests on real schedulers, once for all of their files: what is missing of Debian's packages is installed
 * where that is possible (as root), and what cannot be had is said in one line, and its tests are skipped. Where CI says
 * that they must run, that is a failure.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { havePrograms } from '../support/packages.js'

const NEEDED = {
  gridEngine: {
    programs: [
      '/usr/lib/gridengine/sge_qmaster',
      '/usr/lib/gridengine/sge_execd',
      '/usr/bin/qstat'
    ],
    packages: ['gridengine-master', 'gridengine-exec', 'gridengine-client']
  },
  slurm: {
    programs: ['/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/sbin/munged', '/usr/bin/squeue'],
    packages: ['slurmctld', 'slurmd', 'slurm-client', 'munge']
  },
  ssh: {
    programs: ['/usr/sbin/sshd', '/usr/bin/ssh', '/usr/bin/ssh-keygen'],
    packages: ['openssh-server', 'openssh-client']
  },
  pictures: { programs: ['/usr/bin/rsvg-convert'], packages: ['librsvg2-bin'] },
  namespaces: { programs: ['/usr/sbin/ip'], packages: ['iproute2'] }
} as const

export type Prepared = keyof typeof NEEDED

declare module 'vitest' {
  interface ProvidedContext {
    prepared: readonly Prepared[]
  }
}

const NAMES = Object.keys(NEEDED) as Prepared[]

export function setup(project: TestProject): void {
  const isRoot = process.getuid?.() === 0
  const missing = NAMES.filter((name) => !isThere(name))
  havePrograms(
    missing.flatMap((name) => NEEDED[name].programs),
    missing.flatMap((name) => NEEDED[name].packages)
  )
  const canMake = isRoot && isThere('namespaces') && canMakeNamespaces()
  const prepared = canMake ? NAMES.filter(isThere) : []
  project.provide('prepared', prepared)
  const lacking = NAMES.filter((name) => !prepared.includes(name))
  if (lacking.length === 0) return
  const why = canMake ? 'not installed' : 'root and network namespaces are needed'
  const line = `real schedulers: ${lacking.join(', ')} cannot be tested here: ${why}`
  if (process.env['CI'] === 'true') throw new Error(line)
  process.stderr.write(`${line}; those tests are skipped\n`)
}

function isThere(name: Prepared): boolean {
  return NEEDED[name].programs.every((path) => existsSync(path))
}

function canMakeNamespaces(): boolean {
  const name = `oct${process.pid}`
  const { status } = spawnSync('ip', ['netns', 'add', name])
  spawnSync('ip', ['netns', 'del', name])
  return status === 0
}
