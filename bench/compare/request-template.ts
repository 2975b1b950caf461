/**
 * Requests as bytes with holes: everything but the key's digits is written once, so that the generator's own work for a
 * request is one copy and a few digits.
 */
import type { Job, Mix } from './job.js'
import type { Protocol } from './reply-counter.js'

type Hole = 'key' | 'member'

export interface Template {
  readonly bytes: Buffer
  /** Where digits go: the position of the last one, and which number. */
  readonly holes: readonly { readonly end: number; readonly what: Hole }[]
}

/** 20 bytes: the prefix and 16 digits, of which the last 9 vary. */
export const KEY_BYTES = 20
const DIGITS = 9
const ZERO = 48
const MEMBERS = 100
const MGET_KEYS = 10
/** Of the small hash that stands for one thing of many: few fields, always the same. */
const ENTITY_FIELDS = ['name', 'mail', 'city', 'seen', 'note']
const MARKS: Readonly<Record<Hole, string>> = { key: '#########', member: '@@@@@@@@@' }

export function keyText(prefix: string, number: number): string {
  return prefix + String(number).padStart(KEY_BYTES - prefix.length, '0')
}

/** The prefix is the mix's own, so that one server can hold the keys of all of them without a clash of types. */
export function keyPrefix(mix: Mix): string {
  const names: Readonly<Partial<Record<Mix, string>>> = {
    incr: 'num:',
    hash: 'has:',
    entity: 'ent:',
    list: 'lis:',
    zset: 'zse:'
  }
  return names[mix] ?? 'key:'
}

/** The templates of a mix; which is next is drawn evenly from the list. */
export function createTemplates(job: Job): Template[] {
  const { mix, valueBytes: size, protocol } = job
  const key = keyPrefix(mix) + '0'.repeat(KEY_BYTES - keyPrefix(mix).length - DIGITS) + MARKS.key
  const value = 'v'.repeat(size)
  if (protocol === 'http') return createHttp(mix, key, value)
  if (protocol === 'memcached') return createMemcached(mix, key, value)
  const get = resp('GET', key)
  const set = resp('SET', key, value)
  switch (mix) {
    case 'get':
      return [get]
    case 'set':
      return [set]
    case 'del':
      return [resp('DEL', key)]
    case 'incr':
      return [resp('INCR', key)]
    case 'mixed':
      return [...Array.from({ length: 9 }, () => get), set]
    case 'mget':
      return [resp('MGET', ...Array.from({ length: MGET_KEYS }, () => key))]
    case 'hash':
      return [resp('HSET', key, MARKS.member, value), resp('HGET', key, MARKS.member)]
    case 'entity':
      return ENTITY_FIELDS.flatMap((field) => [
        resp('HSET', key, field, value),
        resp('HGET', key, field)
      ])
    case 'list':
      return [resp('LPUSH', key, value), resp('LPOP', key)]
    case 'zset':
      return [resp('ZADD', key, MARKS.member, MARKS.member), resp('ZRANGE', key, '0', '9')]
  }
}

function createHttp(mix: Mix, key: string, value: string): Template[] {
  const head = ` /v0/entity?id=${key} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
  const get = mark(`GET${head}\r\n`)
  const put = mark(`PUT${head}Content-Length: ${value.length}\r\n\r\n${value}`)
  return choose(mix, get, put)
}

function createMemcached(mix: Mix, key: string, value: string): Template[] {
  const get = mark(`get ${key}\r\n`)
  return choose(mix, get, mark(`set ${key} 0 0 ${value.length}\r\n${value}\r\n`))
}

function choose(mix: Mix, get: Template, set: Template): Template[] {
  if (mix === 'get') return [get]
  if (mix === 'set') return [set]
  if (mix === 'mixed') return [...Array.from({ length: 9 }, () => get), set]
  throw new Error(`this protocol has no ${mix}`)
}

/** Of one protocol or the other: whether the mix can be asked at all. */
export function canAsk(protocol: Protocol, mix: Mix): boolean {
  return protocol === 'resp' || mix === 'get' || mix === 'set' || mix === 'mixed'
}

export function resp(...words: string[]): Template {
  const parts = words.map((word) => `$${word.length}\r\n${word}\r\n`)
  return mark(`*${words.length}\r\n${parts.join('')}`)
}

function mark(text: string): Template {
  const holes = (Object.keys(MARKS) as Hole[]).flatMap((what) =>
    [...text.matchAll(new RegExp(MARKS[what], 'g'))].map(({ index }) => ({
      end: index + DIGITS - 1,
      what
    }))
  )
  return { bytes: Buffer.from(text.replaceAll(/[#@]/g, '0'), 'latin1'), holes }
}

/** Copies a template to `at` and fills it in; returns where it ends. `draw` gives key numbers. */
export function writeTemplate(
  { bytes, holes }: Template,
  target: { readonly bytes: Uint8Array; readonly at: number },
  draw: () => number
): number {
  const { at } = target
  target.bytes.set(bytes, at)
  for (const { end, what } of holes) {
    let number = what === 'key' ? draw() : Math.floor(Math.random() * MEMBERS)
    for (let place = at + end; number > 0; place--) {
      target.bytes[place] = ZERO + (number % 10)
      number = Math.floor(number / 10)
    }
  }
  return at + bytes.length
}
