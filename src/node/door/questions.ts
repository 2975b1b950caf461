/** What nodes ask each other about themselves, each as a command that is answered at once. */
import { nodeName } from '../../core/ids.js'
import { ReplyWriter } from '../../wire/resp/reply-writer.js'
import { SETTING_ANSWERS } from './config-command.js'
import type { Answer, Door } from './door.js'
import { PUBSUB_ANSWERS } from './pubsub-command.js'

/** OC.PAUSE ms all|write: what a client said to another node (pause.ts). */
const learnPause: Answer = (door, args, reply) => {
  const ms = args.integer(1)
  if (ms >= 0) door.pause(ms, args.word(2) === 'write' ? 'write' : 'all')
  reply.ok()
}

/** OC.REPLICA name life address: where the backups of a node answer (replicas.ts). */
const learnReplica: Answer = (door, args, reply) => {
  door.replicas.learn(nodeName(args.text(1)), args.integer(2), args.text(3))
  reply.ok()
}

const ANSWERS = new Map(
  Object.entries({
    ...PUBSUB_ANSWERS,
    ...SETTING_ANSWERS,
    'oc.pause': learnPause,
    'oc.replica': learnReplica
  })
)

export function answerQuestion(door: Door, request: Uint8Array): Uint8Array {
  const reply = new ReplyWriter({ initialBytes: 256 })
  const args = door.execution.parseAny(request)
  const act = args === undefined ? undefined : ANSWERS.get(args.word(0))
  if (args === undefined || act === undefined) reply.error('ERR not a question')
  else act(door, args, reply)
  return reply.bytes.slice(0, reply.length)
}
