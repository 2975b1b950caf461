// What is in deploy/ fits the code, and is right by whatever of its own tools is at hand.
import { parser as promql } from '@prometheus-io/lezer-promql'
import { validate as lintContainer } from 'dockerfile-utils'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { envNameOf, NODE_OPTIONS } from '../../src/config/options.js'
import { findManifestProblems } from './kubernetes-manifest.js'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const FILES = ['deploy/Containerfile', 'deploy/kubernetes.yml', 'deploy/opencluster.service']

describe('deploy', () => {
  test.each(FILES)('%s uses only options that there are', (path) => {
    const text = read(path)
    const variables = Object.keys(NODE_OPTIONS).map(envNameOf)
    for (const [name] of text.matchAll(/\bOPENCLUSTER_[A-Z_]+/g)) expect(variables).toContain(name)
    const started = [...text.matchAll(/opencluster start((?:[^\n]*\\\n)*[^\n]*)/g)].join(' ')
    for (const [, name] of started.matchAll(/--([a-z-]+)/g)) {
      expect(Object.keys(NODE_OPTIONS)).toContain(name)
    }
  })

  test('the container is built in one image and run in another, without rights', () => {
    const text = read('deploy/Containerfile')
    const stages = text.split(/^FROM /m).slice(1)
    expect(stages).toHaveLength(2)
    const copied = [...stages[0].matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, list]) =>
      list.split(' ')
    )
    expect(copied.length).toBeGreaterThan(6)
    for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true)
    expect(stages[1]).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
    expect(stages[1]).not.toMatch(/^COPY (?!--from=build)/m)
  })

  test('the container file is right by the rules of Dockerfiles', () => {
    const text = read('deploy/Containerfile')
    expect(lintContainer(text)).toEqual([])
    expect(lintContainer(text.replace('STOPSIGNAL', 'STOPSIGNALS'))).not.toEqual([])
  })

  test("the objects are right by Kubernetes' schemas, to the last field", () => {
    const text = read('deploy/kubernetes.yml')
    expect(findManifestProblems(text)).toEqual([])
    const problemsWith = (before: string, after: string): string => {
      expect(text).toContain(before)
      return findManifestProblems(text.replace(before, after)).join('\n')
    }
    expect(problemsWith('replicas: 3', "replicas: 'three'")).toContain('replicas')
    expect(problemsWith('preStop:', 'preStopp:')).toContain('preStopp')
    expect(problemsWith('periodSeconds: 2', 'periodSecond: 2')).toContain('periodSecond')
    expect(problemsWith('kind: PodDisruptionBudget', 'kind: PodBudget')).toContain('PodBudget')
  }, 120_000)

  test('the pods leave before they end, and are asked for their health', () => {
    const text = read('deploy/kubernetes.yml')
    expect(text).toMatch(/preStop:\s+exec:\s+command: \[opencluster, leave,/)
    expect(text).toMatch(/readinessProbe:\s+httpGet: \{ path: \/health, port: http \}/)
    const grace = Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1])
    const leaving = Number(/OPENCLUSTER_LEAVE_TIMEOUT, value: '(\d+)'/.exec(text)?.[1])
    expect(grace).toBeGreaterThan(leaving)
    expect(text).toContain('runAsNonRoot: true')
  })

  test('the shell understands what the pods run', () => {
    const block = /args:\n +- \|\n((?: {14}.*\n)+)/.exec(read('deploy/kubernetes.yml'))![1]
    expect(spawnSync('sh', ['-n'], { input: block }).status).toBe(0)
    expect(spawnSync('sh', ['-n'], { input: `${block}\nif` }).status).not.toBe(0)
  })

  test.skipIf(!existsSync('/usr/bin/systemd-analyze'))('systemd understands the unit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'opencluster-unit-'))
    const path = join(folder, 'opencluster.service')
    const verify = (text: string): string => {
      writeFileSync(path, text)
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path])
      return `${stdout.toString()}${stderr.toString()}`
    }
    // The program is not installed where the unit expects it.
    const unit = read('deploy/opencluster.service').replace('/usr/bin/opencluster', '/bin/true')
    expect(verify(unit)).toBe('')
    expect(verify(unit.replace('DynamicUser', 'DynamicUsers'))).toContain('DynamicUsers')
    rmSync(folder, { recursive: true })
  })

  test('Prometheus understands every expression of the alerts and of the dashboard', () => {
    const { groups } = parse(read('deploy/alerts.yml')) as {
      groups: { rules: { alert: string; expr: string; for?: string }[] }[]
    }
    const alerts = groups.flatMap(({ rules }) => rules)
    for (const { alert, for: patience = '0s' } of alerts) {
      expect(patience, alert).toMatch(/^\d+[smhd]$/)
    }
    const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
      panels: { targets?: { expr: string }[] }[]
    }
    const drawn = dashboard.panels.flatMap(({ targets = [] }) => targets)
    const expressions = [...alerts, ...drawn].map(({ expr }) => expr)
    expect(expressions.length).toBeGreaterThan(30)
    for (const text of expressions) expect(isPromql(text), text).toBe(true)
    expect(isPromql('max(opencluster_nodes')).toBe(false)
    expect(isPromql('rate(opencluster_moves_total[1 minute])')).toBe(false)
  })

  test.skipIf(!existsSync('/usr/bin/promtool'))('promtool understands the alerts', () => {
    const { status, stdout } = spawnSync('promtool', ['check', 'rules', 'deploy/alerts.yml'], {
      cwd: root
    })
    expect(stdout.toString()).toContain('SUCCESS')
    expect(status).toBe(0)
  })

  test('every alert is explained in docs/operations.md, and no other', () => {
    const alerts = [...read('deploy/alerts.yml').matchAll(/- alert: (\w+)/g)].map(
      ([, name]) => name
    )
    const explained = [...read('docs/operations.md').matchAll(/`(OpenCluster\w+)`/g)].map(
      ([, name]) => name
    )
    expect(alerts.length).toBeGreaterThan(5)
    expect([...new Set(explained)].sort()).toEqual([...new Set(alerts)].sort())
  })

  test('the dashboard for Grafana has panels that ask for something', () => {
    const { panels, uid } = JSON.parse(read('deploy/grafana-dashboard.json')) as {
      uid: string
      panels: { id: number; type: string; targets?: { expr: string }[] }[]
    }
    expect(uid).toBe('opencluster')
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { type, targets = [] } of panels) {
      if (type !== 'row')
        expect(targets.every(({ expr }) => expr.includes('opencluster_'))).toBe(true)
    }
  })
})

function isPromql(text: string): boolean {
  let isWhole = true
  promql.parse(text).iterate({
    enter: ({ type }) => {
      if (type.isError) isWhole = false
    }
  })
  return isWhole
}
