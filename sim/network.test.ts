import { describe, expect, it } from 'vitest'
import { Random } from '../src/core/random.js'
import { EventQueue } from './event-queue.js'
import { GOOD_LINK, Network, type LinkQuality } from './network.js'

interface Delivery {
  readonly time: number
  readonly from: string
  readonly number: number
}

function build(quality: Partial<LinkQuality> = {}, silenceMsMax = Infinity) {
  const queue = new EventQueue()
  const deliveries: Delivery[] = []
  const network = new Network({
    queue,
    random: new Random(1),
    quality: { ...GOOD_LINK, ...quality },
    silenceMsMax,
    deliver: (from, _to, envelope) =>
      deliveries.push({ time: queue.now, from, number: envelope[0] })
  })
  /** One envelope every millisecond. */
  const sendMany = (count: number, from = 'a', to = 'b'): void => {
    for (let i = 0; i < count; i++) {
      network.send(from, to, Uint8Array.of(i))
      while (queue.step(queue.now + 1));
      queue.advance(queue.now + 1)
    }
    while (queue.step(Infinity));
  }
  return { queue, network, deliveries, sendMany }
}

const numbers = (deliveries: readonly Delivery[]): number[] => deliveries.map((it) => it.number)

describe('the network', () => {
  it('delivers everything in order while nothing is wrong', () => {
    const { deliveries, sendMany } = build({ jitterMs: 5 })
    sendMany(200)
    expect(numbers(deliveries)).toEqual(Array.from({ length: 200 }, (_, i) => i))
  })

  it('loses about as much as it is told to', () => {
    const { deliveries, sendMany, network } = build({ loss: 0.3 })
    sendMany(250)
    expect(deliveries.length).toBeGreaterThan(140)
    expect(deliveries.length).toBeLessThan(210)
    expect(network.lost).toBe(250 - deliveries.length)
  })

  it('doubles and reorders', () => {
    const doubled = build({ duplication: 0.5 })
    doubled.sendMany(100)
    expect(doubled.deliveries.length).toBeGreaterThan(120)
    const reordered = build({ reordering: 0.3 })
    reordered.sendMany(100)
    expect(reordered.deliveries.length).toBe(100)
    const order = numbers(reordered.deliveries)
    expect(order).not.toEqual([...order].sort((a, b) => a - b))
  })

  it('cuts one direction only, and counts overlapping cuts', () => {
    const { network, deliveries, sendMany } = build()
    network.cut('a', 'b')
    network.cut('a', 'b')
    sendMany(3)
    sendMany(3, 'b', 'a')
    expect(deliveries.map((it) => it.from)).toEqual(['b', 'b', 'b'])
    network.mend('a', 'b')
    sendMany(1)
    expect(deliveries.length).toBe(3)
    network.mend('a', 'b')
    sendMany(1)
    expect(deliveries.length).toBe(4)
  })

  it('lets one pass before a link is silent for too long', () => {
    const { network, deliveries, sendMany } = build({}, 10)
    network.cut('a', 'b')
    sendMany(100)
    const times = deliveries.map((it) => it.time)
    expect(times.length).toBeGreaterThan(5)
    for (let i = 1; i < times.length; i++) expect(times[i] - times[i - 1]).toBeLessThan(12)
  })

  it('loses what is on its way when the machine goes', () => {
    const { network, queue, deliveries } = build({ delayMs: 10 })
    network.send('a', 'b', Uint8Array.of(1))
    network.send('c', 'b', Uint8Array.of(2))
    network.loseOnTheWay('a')
    network.send('a', 'b', Uint8Array.of(3))
    while (queue.step(Infinity));
    expect(numbers(deliveries).sort()).toEqual([2, 3])
  })

  it('heals everything', () => {
    const { network, deliveries, sendMany } = build()
    network.cut('a', 'b')
    network.setQualityOfAll({ ...GOOD_LINK, loss: 1 })
    network.heal()
    sendMany(20)
    expect(deliveries.length).toBe(20)
  })
})
