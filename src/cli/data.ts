/** `opencluster get`, `set` and `del`: single keys from the shell. */
import { decimal, type Option } from '../config/option.js'
import type { ReplyValue } from '../wire/resp/reply-value.js'
import { EXIT } from './command.js'
import { definePositionalVerb } from './positional.js'
import { nodeOption, withConnection } from './resp-connection.js'

const TTL_S_MAX = 1_000_000_000

function ttlOption(): Option<number | undefined> {
  const help = 'seconds after which it is gone'
  return { ...decimal(help, 0, { min: 0.001, max: TTL_S_MAX }), initial: undefined, shown: '' }
}

function formatReply(reply: ReplyValue): string {
  return typeof reply === 'string' || typeof reply === 'number' ? String(reply) : 'nothing'
}

export const get = definePositionalVerb({
  name: 'get',
  summary: 'print the value of a key',
  description: 'Prints the value and ends with 0, or says that there is none and ends with 1.',
  example: 'opencluster get user:1',
  words: ['KEY'],
  options: { node: nodeOption() },
  run: async ([key], { node }, output) => {
    const value = await withConnection(node, (connection) => connection.call('GET', key))
    if (typeof value !== 'string') {
      output.stderr.write(`opencluster get: ${key}: no such key\n`)
      return EXIT.failure
    }
    output.stdout.write(`${value}\n`)
    return EXIT.success
  }
})

export const set = definePositionalVerb({
  name: 'set',
  summary: 'give a key a value',
  description: 'Prints OK once every copy has it.',
  example: 'opencluster set user:1 Ada --ttl 60',
  words: ['KEY', 'VALUE'],
  options: { node: nodeOption(), ttl: ttlOption() },
  run: async ([key, value], { node, ttl }, output) => {
    const expiry = ttl === undefined ? [] : ['PX', String(Math.round(ttl * 1000))]
    const reply = await withConnection(node, (connection) =>
      connection.call('SET', key, value, ...expiry)
    )
    output.stdout.write(`${formatReply(reply)}\n`)
    return EXIT.success
  }
})

export const del = definePositionalVerb({
  name: 'del',
  summary: 'delete a key',
  description: 'Prints 1 if there was such a key, otherwise 0.',
  example: 'opencluster del user:1',
  words: ['KEY'],
  options: { node: nodeOption() },
  run: async ([key], { node }, output) => {
    const reply = await withConnection(node, (connection) => connection.call('DEL', key))
    output.stdout.write(`${formatReply(reply)}\n`)
    return EXIT.success
  }
})
