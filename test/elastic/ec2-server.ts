/**
 * A server that speaks the part of EC2's query API that the provider uses: a form in, XML out. Instances come up when the
 * test says so. It keeps client tokens as EC2 does, and a test can make the next calls fail, hang or lose their answer.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeInstance {
  readonly id: string
  readonly tags: Record<string, string>
  readonly form: ReadonlyMap<string, string>
  readonly spotRequest: string | undefined
  readonly launchTime: Date
  state: 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated'
  isChecked: boolean
  /** The provider will take it away. */
  noticeAt: Date | undefined
}

/** What happens to a call: an error code of EC2, no answer, or the deed without the answer. */
export type Fault = { readonly code: string; readonly only?: 'spot' } | 'hang' | 'lose'

type Form = ReadonlyMap<string, string>

export class Ec2Server {
  readonly instances: FakeInstance[] = []
  /** The actions of all calls, in order. */
  readonly calls: string[] = []
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  readonly #faults: { action: string; fault: Fault }[] = []
  readonly #tokens = new Map<string, { id: string; parameters: string }>()
  readonly #pageSize: number

  constructor(pageSize = 1000) {
    this.#pageSize = pageSize
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async end(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  /** The next call of that action goes wrong; several of them one after the other. */
  fail(action: string, ...faults: Fault[]): void {
    for (const fault of faults) this.#faults.push({ action, fault })
  }

  find(name: string): FakeInstance {
    const found = this.live().find(({ tags }) => tags['opencluster:host'] === name)
    if (found === undefined) throw new Error(`no instance ${name}`)
    return found
  }

  live(): FakeInstance[] {
    return this.instances.filter(({ state }) => state !== 'terminated' && state !== 'shutting-down')
  }

  boot(): void {
    for (const instance of this.instances) {
      if (instance.state === 'stopping') instance.state = 'stopped'
      if (instance.state !== 'pending') continue
      instance.state = 'running'
      instance.isChecked = true
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const piece of request) body += String(piece)
    const form = new Map(new URLSearchParams(body))
    const action = form.get('Action') ?? ''
    this.calls.push(action)
    const fault = this.#takeFault(action, form)
    if (fault === 'hang') return
    const send = (status: number, xml: string): void => {
      response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8' }).end(xml)
    }
    try {
      if (typeof fault === 'object') throw new Refusal(fault.code)
      const inner = this.#perform(action, form)
      if (fault === 'lose') {
        request.socket.destroy()
        return
      }
      send(
        200,
        `<?xml version="1.0" encoding="UTF-8"?><${action}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>${inner}</${action}Response>`
      )
    } catch (error) {
      const code = error instanceof Refusal ? error.message : 'InternalError'
      send(
        400,
        `<?xml version="1.0" encoding="UTF-8"?><Response><Errors><Error><Code>${code}</Code><Message>refused by the test</Message></Error></Errors><RequestID>r</RequestID></Response>`
      )
    }
  }

  #takeFault(action: string, form: Form): Fault | undefined {
    const isSpot = form.get('InstanceMarketOptions.MarketType') === 'spot'
    const index = this.#faults.findIndex(
      ({ action: wanted, fault }) =>
        wanted === action && (typeof fault === 'string' || fault.only !== 'spot' || isSpot)
    )
    return index < 0 ? undefined : this.#faults.splice(index, 1)[0].fault
  }

  #perform(action: string, form: Form): string {
    switch (action) {
      case 'RunInstances':
        return this.#run(form)
      case 'DescribeInstances':
        return this.#describe(form)
      case 'DescribeInstanceStatus':
        return this.#describeStatus(form)
      case 'DescribeSpotInstanceRequests':
        return this.#describeSpot(form)
      case 'TerminateInstances':
        return this.#change(form, () => 'shutting-down')
      case 'StopInstances':
        return this.#change(form, ({ spotRequest }) => {
          if (spotRequest !== undefined) throw new Refusal('UnsupportedOperation')
          return 'stopping'
        })
      case 'StartInstances':
        return this.#change(form, ({ state }) => {
          if (state !== 'stopped') throw new Refusal('IncorrectInstanceState')
          return 'pending'
        })
      default:
        throw new Refusal('InvalidAction')
    }
  }

  #run(form: Form): string {
    const token = form.get('ClientToken') ?? ''
    const parameters = JSON.stringify([...form])
    const before = this.#tokens.get(token)
    if (before !== undefined && before.parameters !== parameters) {
      throw new Refusal('IdempotentParameterMismatch')
    }
    const known = this.instances.find(({ id }) => id === before?.id)
    const instance = known ?? this.#create(form)
    this.#tokens.set(token, { id: instance.id, parameters })
    return `<instancesSet>${describeInstance(instance)}</instancesSet>`
  }

  #create(form: Form): FakeInstance {
    const number = this.instances.length + 1
    const tags: Record<string, string> = {}
    for (let index = 1; form.has(`TagSpecification.1.Tag.${index}.Key`); index++) {
      const at = `TagSpecification.1.Tag.${index}`
      tags[form.get(`${at}.Key`) ?? ''] = form.get(`${at}.Value`) ?? ''
    }
    const isSpot = form.get('InstanceMarketOptions.MarketType') === 'spot'
    const instance: FakeInstance = {
      id: `i-${String(number).padStart(17, '0')}`,
      tags,
      form,
      spotRequest: isSpot ? `sir-${number}` : undefined,
      launchTime: new Date(1_700_000_000_000 + number * 1000),
      state: 'pending',
      isChecked: false,
      noticeAt: undefined
    }
    this.instances.push(instance)
    return instance
  }

  #describe(form: Form): string {
    const filters = listOf(form, 'Filter', (at) => {
      const values = listOf(form, `${at}.Value`, (key) => form.get(key) ?? '')
      return { name: form.get(`${at}.Name`) ?? '', values }
    })
    const matching = this.instances.filter((instance) =>
      filters.every(({ name, values }) => values.includes(valueOf(instance, name)))
    )
    const from = Number(form.get('NextToken') ?? 0)
    const page = matching.slice(from, from + this.#pageSize)
    const next = from + page.length
    const items = page.map(
      (instance) =>
        `<item><reservationId>r-1</reservationId><instancesSet>${describeInstance(instance)}</instancesSet></item>`
    )
    const token = next < matching.length ? `<nextToken>${next}</nextToken>` : ''
    return `<reservationSet>${items.join('')}</reservationSet>${token}`
  }

  #describeStatus(form: Form): string {
    const items = this.#named(form).map(({ id, isChecked }) => {
      const status = `<status>${isChecked ? 'ok' : 'initializing'}</status>`
      return `<item><instanceId>${id}</instanceId><systemStatus>${status}</systemStatus><instanceStatus>${status}</instanceStatus></item>`
    })
    return `<instanceStatusSet>${items.join('')}</instanceStatusSet>`
  }

  #describeSpot(form: Form): string {
    const wanted = listOf(form, 'SpotInstanceRequestId', (key) => form.get(key) ?? '')
    const items = this.instances.flatMap(({ spotRequest, noticeAt }) => {
      if (spotRequest === undefined || !wanted.includes(spotRequest)) return []
      const code = noticeAt === undefined ? 'fulfilled' : 'marked-for-termination'
      const time = (noticeAt ?? new Date(0)).toISOString()
      return [
        `<item><spotInstanceRequestId>${spotRequest}</spotInstanceRequestId><status><code>${code}</code><updateTime>${time}</updateTime></status></item>`
      ]
    })
    return `<spotInstanceRequestSet>${items.join('')}</spotInstanceRequestSet>`
  }

  #change(form: Form, change: (instance: FakeInstance) => FakeInstance['state']): string {
    const items = this.#named(form).map((instance) => {
      instance.state = change(instance)
      return `<item><instanceId>${instance.id}</instanceId><currentState><name>${instance.state}</name></currentState></item>`
    })
    return `<instancesSet>${items.join('')}</instancesSet>`
  }

  #named(form: Form): FakeInstance[] {
    return listOf(form, 'InstanceId', (key) => form.get(key) ?? '').map((id) => {
      const found = this.instances.find((instance) => instance.id === id)
      if (found === undefined || found.state === 'terminated') {
        throw new Refusal('InvalidInstanceID.NotFound')
      }
      return found
    })
  }
}

/** The message is the code. */
class Refusal extends Error {}

function listOf<T>(form: Form, prefix: string, read: (at: string) => T): T[] {
  const keys = [...form.keys()]
  const list: T[] = []
  for (let index = 1; ; index++) {
    const at = `${prefix}.${index}`
    if (!keys.some((key) => key === at || key.startsWith(`${at}.`))) return list
    list.push(read(at))
  }
}

function valueOf({ tags, state }: FakeInstance, name: string): string {
  return name === 'instance-state-name' ? state : (tags[name.replace(/^tag:/, '')] ?? '')
}

function describeInstance({ id, tags, state, spotRequest, launchTime }: FakeInstance): string {
  const items = Object.entries(tags).map(
    ([key, value]) => `<item><key>${key}</key><value>${value}</value></item>`
  )
  const number = Number(id.slice(2))
  const spot =
    spotRequest === undefined ? '' : `<spotInstanceRequestId>${spotRequest}</spotInstanceRequestId>`
  return `<item><instanceId>${id}</instanceId><instanceState><name>${state}</name></instanceState><launchTime>${launchTime.toISOString()}</launchTime><privateIpAddress>10.0.0.${number}</privateIpAddress>${spot}<tagSet>${items.join('')}</tagSet></item>`
}
