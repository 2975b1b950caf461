/**
 * A write that is executed at most once under its token, by whichever process tries it and however often. A note beside the
 * key (in the same bucket, by a hash tag) is taken first, which only one can do; then the command is sent, once; then its
 * reply is put into the note, where later attempts find it. If the answer is lost the note stays as it is, and every later
 * attempt is told OC_UNKNOWN instead of doing it twice, until the note expires.
 *
 * Three round trips instead of one. Sending the command again would need the nodes to know the token, since a command
 * that was thought lost may still arrive.
 */
import { randomUUID } from 'node:crypto'
import { OpenClusterError } from '../errors.js'
import type { Argument } from './argument.js'
import { ReplyError, type TextReply } from './reply.js'
import type { StringCommands } from './string-commands.js'
import { deleteSurely, repeatUntilKnown, writeSurely } from './sure-write.js'

/** Under which token a write is executed at most once. */
export interface OnceOptions {
  /** Names this one write among all; a random one or the number of an order, but never used for another. */
  readonly token: string
  /** How long the token is remembered. Default one hour. */
  readonly rememberMs?: number
}

const REMEMBER_MS_DEFAULT = 3_600_000

export async function once(
  client: StringCommands,
  command: readonly [name: string, key: string, ...args: Argument[]],
  options: OnceOptions
): Promise<TextReply> {
  const [name, key, ...args] = command
  const ttlMs = options.rememberMs ?? REMEMBER_MS_DEFAULT
  const note = `once:{${tagOf(key)}}:${options.token}`
  const claim = `claim ${randomUUID()}`
  if (!(await writeSurely(client, { key: note, expected: null, value: claim, ttlMs }))) {
    return recall(client, note)
  }
  let reply: TextReply
  try {
    reply = await client.command(name, key, ...args)
  } catch (error) {
    // Refused, it was certainly not executed: the token is free again.
    if (error instanceof ReplyError) await deleteSurely(client, note, claim)
    throw error
  }
  const done = `done ${JSON.stringify(reply)}`
  await repeatUntilKnown(() => client.compareAndSet(note, claim, done, { ttlMs }))
  return reply
}

/** What the first attempt was answered. */
async function recall(client: StringCommands, note: string): Promise<TextReply> {
  const text = await client.get(note)
  if (text?.startsWith('done ') === true) return JSON.parse(text.slice(5)) as TextReply
  throw new OpenClusterError('OC_UNKNOWN', `${note} was begun by somebody who has not finished`)
}

/** The part of the key that decides its bucket. */
function tagOf(key: string): string {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  return close > open + 1 ? key.slice(open + 1, close) : key
}
