/**
 * Machines of Amazon EC2: launched with the type and image of the cluster, tagged with its name, found again by the
 * tags. Launching is safe to repeat: a live instance of that name is taken as it is, and the client token is made of
 * the cluster, the name and the moment the host was decided on, so that a request whose answer was lost gives the same
 * instance. Spot capacity that is not to be had becomes on-demand; when that is short too it is a lack of capacity,
 * which the rules wait out. The AWS SDK is an optional peer dependency and only loaded here.
 */
import { createHash } from 'node:crypto'
import type * as Ec2Sdk from '@aws-sdk/client-ec2'
import type {
  DescribeInstancesCommandInput,
  EC2Client,
  Instance,
  RunInstancesCommandInput
} from '@aws-sdk/client-ec2'
import { CapacityError, type Machine, type MachineRequest, type Provider } from './provider.js'

type Sdk = typeof Ec2Sdk

export interface Ec2Settings {
  readonly region?: string
  /** Another address of the API, for services that speak the same. */
  readonly endpoint?: string
  readonly image?: string
  readonly instanceType?: string
  readonly subnet?: string
  readonly securityGroups?: readonly string[]
  readonly keyName?: string
  readonly instanceProfile?: string
  /** A script for the first boot, as it is. */
  readonly userData?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly spot?: boolean
  /** At most this much an hour for spot; without it, up to the price of on-demand. */
  readonly spotPriceMax?: number
  /** When a host counts as up: its checks have passed, or it only runs. */
  readonly ready?: 'checked' | 'running'
}

export interface Ec2Options {
  readonly cluster: string
  readonly settings: Ec2Settings
  readonly timeoutMs: number
  readonly attemptsMax?: number
  /** Where the SDK comes from, if not from the installed package. */
  readonly load?: () => Promise<Sdk>
}

const PACKAGE = '@aws-sdk/client-ec2'
const CLUSTER_TAG = 'opencluster:cluster'
const HOST_TAG = 'opencluster:host'
const PAGE = 1000
const PAGES_MAX = 100
const ATTEMPTS_MAX = 3
/** From the notice to the end of a spot instance. */
const NOTICE_MS = 120_000
const LIVE_STATES = ['pending', 'running', 'stopping', 'stopped']
/** Codes that mean: none to be had now, ask again later. */
const CAPACITY_CODES = new Set([
  'InsufficientInstanceCapacity',
  'InsufficientHostCapacity',
  'InsufficientCapacity',
  'InstanceLimitExceeded',
  'VcpuLimitExceeded',
  'MaxSpotInstanceCountExceeded',
  'SpotMaxPriceTooLow',
  'RequestLimitExceeded'
])

export class Ec2Provider implements Provider {
  readonly label = 'ec2'
  readonly #options: Ec2Options
  #connection: Promise<{ sdk: Sdk; client: EC2Client }> | undefined

  constructor(options: Ec2Options) {
    this.#options = options
  }

  async list(signal: AbortSignal): Promise<readonly Machine[]> {
    const instances = await this.#describe({ Filters: this.#filters() }, signal)
    const notices = await this.#readNotices(instances, signal)
    return instances.flatMap((instance) => toMachine(instance, notices) ?? [])
  }

  async launch(request: MachineRequest, signal: AbortSignal): Promise<Machine> {
    const known = await this.#findLive(request, signal)
    if (known !== undefined) return known
    if (this.#options.settings.spot === true) {
      try {
        return await this.#run(request, 'spot', signal)
      } catch (error) {
        if (!(error instanceof CapacityError)) throw error
      }
    }
    return this.#run(request, 'on-demand', signal)
  }

  async checkReady(request: MachineRequest, signal: AbortSignal): Promise<Machine | undefined> {
    const machine = await this.#findLive(request, signal)
    if (machine === undefined) throw new Error(`${request.name}: its instance is gone`)
    if (machine.state === 'stopped') throw new Error(`${request.name}: its instance is stopped`)
    if (machine.state !== 'running') return undefined
    if (this.#options.settings.ready === 'running') return machine
    const { InstanceStatuses: statuses = [] } = await this.#call(signal, (sdk, client, limit) =>
      client.send(new sdk.DescribeInstanceStatusCommand({ InstanceIds: [machine.id] }), limit)
    )
    const status = statuses.at(0)
    const isOk = status?.InstanceStatus?.Status === 'ok' && status.SystemStatus?.Status === 'ok'
    return isOk ? machine : undefined
  }

  async terminate(request: MachineRequest, signal: AbortSignal): Promise<boolean> {
    const id = await this.#findId(request, signal)
    if (id === undefined) return true
    try {
      await this.#call(signal, (sdk, client, limit) =>
        client.send(new sdk.TerminateInstancesCommand({ InstanceIds: [id] }), limit)
      )
    } catch (error) {
      if (!isUnknownInstance(error)) throw error
    }
    // Paid for no longer from the moment it shuts down.
    return true
  }

  /** A spot instance cannot be stopped: it is ended instead. */
  async stop(request: MachineRequest, signal: AbortSignal): Promise<boolean> {
    const machine = await this.#findLive(request, signal)
    if (machine === undefined || machine.isOff === true) return true
    try {
      await this.#call(signal, (sdk, client, limit) =>
        client.send(new sdk.StopInstancesCommand({ InstanceIds: [machine.id] }), limit)
      )
      return false
    } catch (error) {
      if (codeOf(error) !== 'UnsupportedOperation') throw error
      return this.terminate(request, signal)
    }
  }

  async start(request: MachineRequest, signal: AbortSignal): Promise<Machine> {
    const machine = await this.#findLive(request, signal)
    if (machine === undefined) return this.launch(request, signal)
    if (machine.state !== 'stopped') return machine
    await this.#call(signal, (sdk, client, limit) =>
      client.send(new sdk.StartInstancesCommand({ InstanceIds: [machine.id] }), limit)
    )
    const { name, id, address } = machine
    return { name, id, state: 'pending', ...(address === undefined ? {} : { address }) }
  }

  /** Every instance with the tag of the cluster, the master's too if it has it. */
  async shutdown(signal: AbortSignal): Promise<void> {
    const instances = await this.#describe({ Filters: this.#filters() }, signal)
    const ids = instances.flatMap(({ InstanceId: id }) => id ?? [])
    if (ids.length === 0) return
    await this.#call(signal, (sdk, client, limit) =>
      client.send(new sdk.TerminateInstancesCommand({ InstanceIds: ids }), limit)
    )
  }

  async #run(
    request: MachineRequest,
    market: 'spot' | 'on-demand',
    signal: AbortSignal
  ): Promise<Machine> {
    const input = describeLaunch(this.#options, request, market)
    try {
      const { Instances: instances = [] } = await this.#call(signal, (sdk, client, limit) =>
        client.send(new sdk.RunInstancesCommand(input), limit)
      )
      const machine = instances.map((one) => toMachine(one, NO_NOTICES)).at(0)
      if (machine === undefined) throw new Error('no instance in the answer')
      return machine
    } catch (error) {
      const code = codeOf(error)
      if (code === undefined || !CAPACITY_CODES.has(code)) throw error
      throw new CapacityError(`${market}: ${describeError(error)}`, { cause: error })
    }
  }

  async #findId(request: MachineRequest, signal: AbortSignal): Promise<string | undefined> {
    return request.id ?? (await this.#findLive(request, signal))?.id
  }

  /** By its id where that is known, else by its name; the oldest, if there are several. */
  async #findLive(request: MachineRequest, signal: AbortSignal): Promise<Ec2Machine | undefined> {
    const { id, name } = request
    const filters = this.#filters().concat({ Name: `tag:${HOST_TAG}`, Values: [name] })
    const found = await this.#describe({ Filters: filters }, signal)
    return found
      .flatMap((instance) => toMachine(instance, NO_NOTICES) ?? [])
      .filter((machine) => machine.state !== 'gone' && (id === undefined || machine.id === id))
      .sort((a, b) => (a.launchedAt ?? 0) - (b.launchedAt ?? 0))
      .at(0)
  }

  #filters(): { Name: string; Values: string[] }[] {
    return [
      { Name: `tag:${CLUSTER_TAG}`, Values: [this.#options.cluster] },
      { Name: 'instance-state-name', Values: LIVE_STATES }
    ]
  }

  async #describe(input: DescribeInstancesCommandInput, signal: AbortSignal): Promise<Instance[]> {
    const found: Instance[] = []
    let token: string | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const asked = {
        ...input,
        MaxResults: PAGE,
        ...(token === undefined ? {} : { NextToken: token })
      }
      const answer = await this.#call(signal, (sdk, client, limit) =>
        client.send(new sdk.DescribeInstancesCommand(asked), limit)
      )
      for (const { Instances: instances = [] } of answer.Reservations ?? [])
        found.push(...instances)
      token = answer.NextToken
      if (token === undefined || token === '') return found
    }
    throw new Error('more instances than can be listed')
  }

  /** When spot instances will be taken away, by the id of their request. */
  async #readNotices(
    instances: readonly Instance[],
    signal: AbortSignal
  ): Promise<ReadonlyMap<string, number>> {
    const ids = instances.flatMap(({ SpotInstanceRequestId: id }) => id ?? [])
    if (ids.length === 0) return NO_NOTICES
    const { SpotInstanceRequests: requests = [] } = await this.#call(signal, (sdk, client, limit) =>
      client.send(
        new sdk.DescribeSpotInstanceRequestsCommand({ SpotInstanceRequestIds: ids }),
        limit
      )
    )
    const notices = new Map<string, number>()
    for (const { SpotInstanceRequestId: id, Status: status } of requests) {
      if (id === undefined || status?.Code?.startsWith('marked-for-') !== true) continue
      notices.set(id, (status.UpdateTime?.getTime() ?? 0) + NOTICE_MS)
    }
    return notices
  }

  /** Every call has a limit, and fails with one line. */
  async #call<T>(
    signal: AbortSignal,
    send: (sdk: Sdk, client: EC2Client, limit: { abortSignal: AbortSignal }) => Promise<T>
  ): Promise<T> {
    const { timeoutMs } = this.#options
    this.#connection ??= this.#connect()
    const { sdk, client } = await this.#connection
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      return await send(sdk, client, { abortSignal: AbortSignal.any([signal, limit]) })
    } catch (error) {
      if (limit.aborted) throw new Error(`ec2: no answer within ${timeoutMs} ms`, { cause: error })
      throw error instanceof Error && codeOf(error) === undefined
        ? new Error(`ec2: ${describeError(error)}`, { cause: error })
        : error
    }
  }

  async #connect(): Promise<{ sdk: Sdk; client: EC2Client }> {
    const { settings, attemptsMax = ATTEMPTS_MAX, load = loadSdk } = this.#options
    const { region, endpoint } = settings
    let sdk: Sdk
    try {
      sdk = await load()
    } catch (error) {
      this.#connection = undefined
      throw new Error(`the provider ec2 needs the AWS SDK: npm install ${PACKAGE}`, {
        cause: error
      })
    }
    const client = new sdk.EC2Client({
      maxAttempts: attemptsMax,
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint })
    })
    return { sdk, client }
  }
}

function loadSdk(): Promise<Sdk> {
  return import('@aws-sdk/client-ec2')
}

interface Ec2Machine extends Machine {
  /** Wholly off, so that it can be started again. */
  readonly isOff?: boolean
}

const NO_NOTICES: ReadonlyMap<string, number> = new Map()

function toMachine(
  instance: Instance,
  notices: ReadonlyMap<string, number>
): Ec2Machine | undefined {
  const { InstanceId: id, Tags: tags = [], State: state, PrivateIpAddress: address } = instance
  const name = tags.find(({ Key: key }) => key === HOST_TAG)?.Value
  if (id === undefined || name === undefined) return undefined
  const launchedAt = instance.LaunchTime?.getTime()
  const interruptionAt = notices.get(instance.SpotInstanceRequestId ?? '')
  return {
    name,
    id,
    state: toState(state?.Name),
    ...(state?.Name === 'stopped' ? { isOff: true } : {}),
    ...(address === undefined ? {} : { address }),
    ...(launchedAt === undefined ? {} : { launchedAt }),
    ...(interruptionAt === undefined ? {} : { interruptionAt })
  }
}

function toState(name: string | undefined): Machine['state'] {
  switch (name) {
    case 'pending':
    case 'running':
    case 'stopped':
      return name
    case 'stopping':
      return 'stopped'
    case 'shutting-down':
    case 'terminated':
      return 'gone'
    default:
      return 'unknown'
  }
}

function describeLaunch(
  { cluster, settings }: Ec2Options,
  { name, token }: MachineRequest,
  market: 'spot' | 'on-demand'
): RunInstancesCommandInput {
  const tags = { ...settings.tags, Name: name, [CLUSTER_TAG]: cluster, [HOST_TAG]: name }
  const listed = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))
  const { spotPriceMax, subnet, securityGroups, keyName, userData, instanceProfile } = settings
  return {
    ImageId: settings.image,
    InstanceType: settings.instanceType as RunInstancesCommandInput['InstanceType'],
    MinCount: 1,
    MaxCount: 1,
    ClientToken: createHash('sha256')
      .update(JSON.stringify([cluster, name, token ?? '', market]))
      .digest('hex'),
    TagSpecifications: [
      { ResourceType: 'instance', Tags: listed },
      { ResourceType: 'volume', Tags: listed }
    ],
    ...(subnet === undefined ? {} : { SubnetId: subnet }),
    ...(securityGroups === undefined ? {} : { SecurityGroupIds: [...securityGroups] }),
    ...(keyName === undefined ? {} : { KeyName: keyName }),
    ...(instanceProfile === undefined ? {} : { IamInstanceProfile: { Name: instanceProfile } }),
    ...(userData === undefined ? {} : { UserData: Buffer.from(userData).toString('base64') }),
    ...(market === 'on-demand'
      ? {}
      : {
          InstanceMarketOptions: {
            MarketType: 'spot',
            SpotOptions: {
              SpotInstanceType: 'one-time',
              InstanceInterruptionBehavior: 'terminate',
              ...(spotPriceMax === undefined ? {} : { MaxPrice: String(spotPriceMax) })
            }
          }
        })
  }
}

/** The API's own code, such as `InsufficientInstanceCapacity`; undefined for anything that is not its answer. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('$fault' in error)) return undefined
  return error.name
}

function isUnknownInstance(error: unknown): boolean {
  return codeOf(error)?.startsWith('InvalidInstanceID') === true
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = codeOf(error)
  return code === undefined || error.message.startsWith(code)
    ? error.message
    : `${code}: ${error.message}`
}
