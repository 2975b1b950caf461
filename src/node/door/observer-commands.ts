/** MONITOR, SLOWLOG and LATENCY: what others do here, and how long it takes (observer.ts). */
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import { NOT_AN_INTEGER } from '../../commands/error-text.js'
import { container } from './container.js'
import type { DoorCommand } from './door.js'
import type { LatencyEvent, SlowEntry } from './observer.js'
import type { Timed } from './statistics.js'

const SHOWN = 10

export const MONITOR = {
  name: 'monitor',
  arity: 1,
  execute(door, slot) {
    door.reply(slot, (reply) => reply.ok())
    door.observer.watch(slot.session)
  }
} as const satisfies DoorCommand

function writeEntry(
  reply: ReplyWriter,
  { id, seconds, micros, args, from, client }: SlowEntry
): void {
  reply.array(6)
  reply.integer(id)
  reply.integer(seconds)
  reply.integer(micros)
  reply.array(args.length)
  for (const text of args) reply.bulkString(text)
  reply.bulkString(from)
  reply.bulkString(client)
}

export const SLOWLOG = container('slowlog', {
  get: {
    arity: -2,
    execute(door, slot, args) {
      const count = args.count > 2 ? args.integer(2) : SHOWN
      if (args.count > 3 || Number.isNaN(count)) {
        door.refuse(slot, NOT_AN_INTEGER)
        return
      }
      if (count < -1) {
        door.refuse(slot, 'ERR count should be greater than or equal to -1')
        return
      }
      const { slow } = door.observer
      const shown = count < 0 ? slow : slow.slice(0, count)
      door.reply(slot, (reply) => {
        reply.array(shown.length)
        for (const entry of shown) writeEntry(reply, entry)
      })
    }
  },
  len: {
    arity: 2,
    execute: (door, slot) => door.reply(slot, (reply) => reply.integer(door.observer.slow.length))
  },
  reset: {
    arity: 2,
    execute(door, slot) {
      door.observer.slow.length = 0
      door.reply(slot, (reply) => reply.ok())
    }
  }
})

function worst(events: readonly LatencyEvent[]): number {
  return events.reduce((most, { ms }) => Math.max(most, ms), 0)
}

function writeTimed(reply: ReplyWriter, { calls, counts }: Timed): void {
  reply.map(2)
  reply.bulkString('calls')
  reply.integer(calls)
  reply.bulkString('histogram_usec')
  reply.map(counts.size)
  let sum = 0
  for (const [micros, count] of [...counts].sort(([a], [b]) => a - b)) {
    sum += count
    reply.integer(micros)
    reply.integer(sum)
  }
}

export const LATENCY = container('latency', {
  histogram: {
    arity: -2,
    execute(door, slot, args) {
      const all = door.statistics.byName()
      const asked = args.texts(2).map((text) => text.toLowerCase())
      const wanted = (name: string): boolean =>
        asked.length === 0 || asked.some((one) => one === name || name.startsWith(`${one}|`))
      const shown = [...all].filter(([name]) => wanted(name))
      door.reply(slot, (reply) => {
        reply.map(shown.length)
        for (const [name, timed] of shown) {
          reply.bulkString(name)
          writeTimed(reply, timed)
        }
      })
    }
  },
  history: {
    arity: 3,
    execute(door, slot, args) {
      const events = door.observer.events.get(args.text(2)) ?? []
      door.reply(slot, (reply) => {
        reply.array(events.length)
        for (const { seconds, ms } of events) {
          reply.array(2)
          reply.integer(seconds)
          reply.integer(Math.floor(ms))
        }
      })
    }
  },
  latest: {
    arity: 2,
    execute(door, slot) {
      const { events } = door.observer
      door.reply(slot, (reply) => {
        reply.array(events.size)
        for (const [name, seen] of events) {
          reply.array(4)
          reply.bulkString(name)
          reply.integer(seen.at(-1)?.seconds ?? 0)
          reply.integer(Math.floor(seen.at(-1)?.ms ?? 0))
          reply.integer(Math.floor(worst(seen)))
        }
      })
    }
  },
  reset: {
    arity: -2,
    execute(door, slot, args) {
      const { events } = door.observer
      const names = args.count === 2 ? [...events.keys()] : args.texts(2)
      const gone = names.filter((name) => events.delete(name))
      door.reply(slot, (reply) => reply.integer(gone.length))
    }
  },
  doctor: {
    arity: 2,
    execute(door, slot) {
      const lines = [...door.observer.events].map(
        ([name, seen]) => `${name}: ${seen.length} of late, the worst took ${worst(seen)} ms\n`
      )
      const text = lines.length === 0 ? 'Nothing was slow here of late.\n' : lines.join('')
      door.reply(slot, (reply) => reply.verbatim('txt', text))
    }
  },
  graph: {
    arity: 3,
    execute(door, slot, args) {
      const seen = door.observer.events.get(args.text(2))
      if (seen === undefined) {
        door.refuse(slot, `ERR No samples available for event '${args.text(2)}'`)
        return
      }
      const text = seen.map(({ seconds, ms }) => `${seconds} ${ms} ms\n`).join('')
      door.reply(slot, (reply) => reply.verbatim('txt', text))
    }
  }
})
