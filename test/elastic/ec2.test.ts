// The provider ec2 with the real AWS SDK, against a local server that speaks EC2's query API. Amazon itself is not reachable.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Ec2Provider, type Ec2Options, type Ec2Settings } from '../../src/elastic/providers/ec2.js'
import { CapacityError } from '../../src/elastic/providers/provider.js'
import { BalancerProcess } from './balancer-process.js'
import { Ec2Server } from './ec2-server.js'
import { until } from './namespaces.js'

const signal = new AbortController().signal
const BASE = { region: 'eu-west-1', image: 'ami-1', instanceType: 'c5.xlarge' } as const
const KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
let server: Ec2Server
let endpoint: string

beforeEach(async () => {
  Object.assign(process.env, KEYS)
  server = new Ec2Server()
  endpoint = await server.start()
})
afterEach(() => server.end())

function create(settings: Partial<Ec2Settings> = {}, more: Partial<Ec2Options> = {}): Ec2Provider {
  return new Ec2Provider({
    cluster: 'lab',
    settings: { ...BASE, endpoint, ...settings },
    timeoutMs: 5000,
    attemptsMax: 1,
    ...more
  })
}

const request = { name: 'node001', token: '7' }

describe('launching', () => {
  test('with the type, the image, the tags and all that was given', async () => {
    const machine = await create({
      subnet: 'subnet-1',
      securityGroups: ['sg-1', 'sg-2'],
      keyName: 'key',
      instanceProfile: 'worker',
      userData: '#!/bin/sh\necho hello\n',
      tags: { owner: 'me' }
    }).launch(request, signal)
    const [instance] = server.instances
    expect(machine).toMatchObject({ name: 'node001', id: instance.id, state: 'pending' })
    expect(instance.tags).toEqual({
      owner: 'me',
      Name: 'node001',
      'opencluster:cluster': 'lab',
      'opencluster:host': 'node001'
    })
    const form = Object.fromEntries(instance.form)
    expect(form).toMatchObject({
      ImageId: 'ami-1',
      InstanceType: 'c5.xlarge',
      MinCount: '1',
      MaxCount: '1',
      SubnetId: 'subnet-1',
      'SecurityGroupId.2': 'sg-2',
      KeyName: 'key',
      'IamInstanceProfile.Name': 'worker'
    })
    expect(Buffer.from(form['UserData'], 'base64').toString()).toBe('#!/bin/sh\necho hello\n')
    expect(form['InstanceMarketOptions.MarketType']).toBeUndefined()
  })

  test('once, however often it is asked for, and again for the next host of that name', async () => {
    const provider = create()
    const first = await provider.launch(request, signal)
    expect((await provider.launch(request, signal)).id).toBe(first.id)
    expect(server.instances).toHaveLength(1)
    await provider.terminate({ ...request, id: first.id }, signal)
    const second = await provider.launch({ name: 'node001', token: '8' }, signal)
    expect(second.id).not.toBe(first.id)
  })

  test('an answer that was lost on the way makes no second instance', async () => {
    server.fail('RunInstances', 'lose')
    const provider = create()
    await expect(provider.launch(request, signal)).rejects.toThrow('ec2: ')
    // Not in the list yet, as it happens with EC2: only the token is left.
    server.find('node001').tags['opencluster:host'] = 'late'
    const again = await provider.launch(request, signal)
    expect(server.instances).toHaveLength(1)
    expect(again.id).toBe(server.instances[0].id)
  })

  test('spot, and on demand when there is none', async () => {
    const provider = create({ spot: true, spotPriceMax: 0.05 })
    await provider.launch(request, signal)
    expect(Object.fromEntries(server.instances[0].form)).toMatchObject({
      'InstanceMarketOptions.MarketType': 'spot',
      'InstanceMarketOptions.SpotOptions.MaxPrice': '0.05'
    })
    server.fail('RunInstances', { code: 'InsufficientInstanceCapacity', only: 'spot' })
    await provider.launch({ name: 'node002', token: '9' }, signal)
    expect(server.find('node002').spotRequest).toBeUndefined()
  })

  test('no capacity at all is a lack of capacity, anything else a failure', async () => {
    const provider = create({ spot: true })
    server.fail('RunInstances', { code: 'SpotMaxPriceTooLow' }, { code: 'VcpuLimitExceeded' })
    await expect(provider.launch(request, signal)).rejects.toThrow(CapacityError)
    server.fail('RunInstances', { code: 'InvalidAMIID.NotFound' })
    const failure = await provider.launch(request, signal).catch((error: unknown) => error)
    expect(failure).not.toBeInstanceOf(CapacityError)
    expect(server.instances).toEqual([])
  })

  test('without the SDK one line says what to install', async () => {
    const load = (): never => {
      throw new Error("Cannot find package '@aws-sdk/client-ec2'")
    }
    await expect(create({}, { load }).list(signal)).rejects.toThrow(
      'the provider ec2 needs the AWS SDK: npm install @aws-sdk/client-ec2'
    )
  })

  test('an API that hangs is given up', async () => {
    server.fail('DescribeInstances', 'hang')
    await expect(create({}, { timeoutMs: 200 }).list(signal)).rejects.toThrow(
      'ec2: no answer within 200 ms'
    )
  })
})

describe('a machine', () => {
  test('is ready when its checks have passed', async () => {
    const provider = create()
    const { id } = await provider.launch(request, signal)
    const asked = { ...request, id }
    expect(await provider.checkReady(asked, signal)).toBeUndefined()
    server.instances[0].state = 'running'
    expect(await provider.checkReady(asked, signal)).toBeUndefined()
    expect(await create({ ready: 'running' }).checkReady(asked, signal)).toMatchObject({ id })
    server.boot()
    server.instances[0].isChecked = true
    expect(await provider.checkReady(asked, signal)).toMatchObject({ id, address: '10.0.0.1' })
    server.instances[0].state = 'terminated'
    await expect(provider.checkReady(asked, signal)).rejects.toThrow('its instance is gone')
  })

  test('is stopped and started again; a spot one is ended instead', async () => {
    const provider = create()
    const { id } = await provider.launch(request, signal)
    server.boot()
    expect(await provider.stop({ ...request, id }, signal)).toBe(false)
    server.boot()
    expect(await provider.stop({ ...request, id }, signal)).toBe(true)
    expect(await provider.list(signal)).toMatchObject([{ name: 'node001', state: 'stopped' }])
    expect(await provider.start({ ...request, id }, signal)).toMatchObject({ id, state: 'pending' })
    expect(server.instances[0].state).toBe('pending')

    const spot = create({ spot: true })
    const other = await spot.launch({ name: 'node002', token: '2' }, signal)
    server.boot()
    expect(await spot.stop({ name: 'node002', id: other.id }, signal)).toBe(true)
    expect(server.instances[1].state).toBe('shutting-down')
  })

  test('that is gone already is ended without a failure, and found by its name without an id', async () => {
    const provider = create()
    expect(await provider.terminate({ name: 'node009', id: 'i-9' }, signal)).toBe(true)
    await provider.launch(request, signal)
    expect(await provider.terminate({ name: 'node001' }, signal)).toBe(true)
    expect(server.live()).toEqual([])
  })
})

describe('the list', () => {
  test('has this cluster and no other, page after page, with notices of interruption', async () => {
    await server.end()
    server = new Ec2Server(2)
    endpoint = await server.start()
    const provider = create({ spot: true })
    for (const number of [1, 2, 3, 4, 5]) {
      await provider.launch({ name: `node00${number}`, token: '1' }, signal)
    }
    await create({}, { cluster: 'other' }).launch(request, signal)
    server.boot()
    server.instances[4].noticeAt = new Date(1_800_000_900_000)
    const machines = await provider.list(signal)
    expect(machines.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5].map((n) => `node00${n}`))
    expect(machines.map(({ interruptionAt }) => interruptionAt)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      1_800_001_020_000
    ])
    expect(machines[0]).toMatchObject({ launchedAt: 1_700_000_001_000, state: 'running' })
  })
})

test('the balancer launches, waits, uses and ends instances', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-ec2-'))
  const facts = join(folder, 'facts.json')
  const master = { name: 'master', role: 'master', slots: 0 }
  const tell = (hosts: readonly object[], jobs: readonly object[]): void =>
    writeFileSync(facts, JSON.stringify({ hosts: [master, ...hosts], jobs }))
  tell([], [{ id: 1, slots: 4, submittedAt: Date.now() - 3_600_000 }])
  const lab = {
    source: { kind: 'command', command: ['cat', facts] },
    provider: { kind: 'ec2', endpoint, ...BASE, spot: true },
    progressMs: 100,
    retryMs: 200,
    policy: {
      intervalMs: 500,
      // This source tells of a host only when the test does.
      hostsMax: 2,
      billing: { kind: 'second', idleMs: 500 },
      cooldownDownMs: 0,
      template: { slots: 4, queues: [] }
    }
  }
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ elastic: { lab } }))
  // The first answer gets lost and spot is short: one instance all the same.
  server.fail('RunInstances', { code: 'InsufficientInstanceCapacity', only: 'spot' }, 'lose')
  const args = ['lab', '--config', config, '--state-dir', join(folder, 'state')]
  const balancer = new BalancerProcess(args)
  try {
    await until(
      () => balancer.output,
      () => server.live().length === 1
    )
    server.boot()
    await until(
      () => balancer.output,
      () => balancer.output.includes('node001: added')
    )
    expect(server.instances).toHaveLength(1)
    tell([{ name: 'node001', slots: 4 }], [])
    await until(
      () => balancer.output,
      () => server.live().length === 0
    )
  } finally {
    await balancer.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
