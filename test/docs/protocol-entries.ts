/**
 * What docs/protocol.md says of every message between nodes: what it is for, its fields, and an example. A kind that
 * is missing here does not compile; the fields are held to what the codec really writes (protocol.test.ts).
 *
 * Fields are `name:type`, in order; `( … )*` any number of times, `( … )?` once or not at all, `( … | … )` one of them.
 */
import { NO_BALLOT } from '../../src/core/agreement/ballot.js'
import { latin1Bytes } from '../../src/core/bytes.js'
import { VOTERS_REGISTER } from '../../src/wire/peer/agreement.js'
import type { EnvelopeHead } from '../../src/wire/peer/envelope.js'
import type { Message, MessageKind } from '../../src/wire/peer/message.js'
import { RING_ENTRIES } from './protocol-ring-entries.js'
import {
  a,
  answered,
  b,
  c,
  command,
  forwarded,
  item,
  life,
  memberC,
  note,
  voters,
  write
} from './protocol-samples.js'

export interface Entry<K extends MessageKind = MessageKind> {
  readonly about: string
  readonly fields: string
  readonly example: Omit<Extract<Message, { kind: K }>, 'kind'>
}

/** What occurs in several messages. */
export const PARTS: Readonly<Record<string, string>> = {
  bytes: 'length:varint bytes:raw',
  member: 'name:text address:text life:f64 version:varint state:u8 weight:f64 zone:utf8',
  row: 'bucket:u16 epoch:varint primary:varint count:u8 ( backup:varint )*',
  event: 'seq:varint change:u8 key:text names:text',
  mark: 'bucket:u16 epoch:varint seq:varint pending:varint seenVersion:f64 parted:f64 untold:varint missed:u8',
  name: 'place:varint ( name:text )?',
  set: 'version:varint policy:u8 flags:u8 count:u8 ( voter:name life:f64 )*',
  value:
    '( kind:u8 epoch:varint primary:name count:u8 ( backup:name )* deposes:name | kind:u8 voters:set )',
  promise:
    'register:u16 round:varint flags:u8 highest:varint ( at:varint ( by:name life:f64 )? value:value )?',
  positions: 'count:varint ( position:u32 )*',
  ringMember:
    'name:text life:f64 address:text url:utf8 zone:utf8 positions:positions wanted:positions flags:u8',
  configuration: 'version:varint stage:u8 copies:u8 count:varint ( member:ringMember )*',
  offered: 'key:bytes version:f64 check:u32'
}

/** What the parts and numbers above mean. */
export const NOTES: readonly string[] = [
  '`name`: a node by its place in the list of names of this message, from 1 on; one that is new there follows; 0 is nobody.',
  '`row`: `primary` is 0 for none, otherwise one more than a place in the list before it; a `backup` is such a place.',
  '`state` of a member: 0 alive, 1 leaving, 2 left. `change`: 0 set, 1 deleted, 2 expired, 3 evicted. `policy`: 0 auto, 1 majority, 2 available.',
  '`value`: `kind` 0 is a row, 1 a set of voters. Register 65535 is that of the voters; the others are buckets.',
  '`flags` of a promise: 1 promised, 2 a value was accepted before, and follows.',
  '`flags` of a member of the ring: 1 hollow, 2 leaving. `stage`: 0 rest, 1 filling, 2 switched. Positions are signed.',
  '`status` of an answer on the ring: 0 ok, 1 newer, 2 stale, 3 hollow.'
]

export const HEAD: EnvelopeHead = {
  cluster: 0x5eed_0001,
  from: a,
  address: '10.0.0.1:13600',
  fromLife: life,
  toLife: life,
  sent: 4,
  total: 5,
  acked: 7
}
export const HEAD_FIELDS =
  'protocol:u8 cluster:u32 from:text address:text fromLife:f64 toLife:f64 sent:varint total:varint acked:varint'

export const ENTRIES: { readonly [K in MessageKind]: Entry<K> } = {
  beat: {
    about:
      'Sent when there is nothing else to say: I live, and this is my table (a digest of it), the version of the voters I know, and what my clock shows.',
    fields: 'mask:u16 digest:u32 voters:varint ms:f64',
    example: { mask: 0x00ff, digest: 0x1234_5678, voters: 3, ms: life }
  },
  members: {
    about: 'Records of members; the newest of each counts.',
    fields: 'count:varint ( member:member )*',
    example: { members: [memberC] }
  },
  join: {
    about: 'A newcomer asks to be let in, and says how it places keys.',
    fields: 'hash:text member:member',
    example: { hash: 'redis', member: memberC }
  },
  welcome: {
    about: 'It is let in, and told what the whole cluster has in common.',
    fields: 'cluster:u32 copies:u8 hash:text count:varint ( member:member )*',
    example: { cluster: 0x5eed_0001, copies: 2, hash: 'redis', members: [memberC] }
  },
  rows: {
    about: 'Rows of the table. A row replaces one with a lower epoch.',
    fields: 'mask:u16 count:varint ( node:text )* count:varint ( row:row )*',
    example: { mask: 0x00ff, rows: [{ bucket: 9, row: { epoch: 7, primary: a, backups: [b] } }] }
  },
  nothing: {
    about: 'In place of what a node that has left need not be told any more.',
    fields: '',
    example: {}
  },
  tableAsk: {
    about:
      'Our tables differ: send me the rows that you know better. Of each bucket the epoch that I know.',
    fields: 'mask:u16 digest:u32 ( epoch:varint )*',
    example: { mask: 0x000f, digest: 0x1234, epochs: Array.from({ length: 16 }, (_, i) => i) }
  },
  levelAsk: { about: 'What is your load level?', fields: '', example: {} },
  level: {
    about: 'My load level, and whether I am sending or receiving a bucket.',
    fields: 'primaries:varint backups:varint transferring:u8',
    example: { primaries: 86, backups: 85, transferring: false }
  },
  offer: {
    about:
      'Stage *offer* of a move: may I send you this bucket? `role` is 1 for the primary, 0 for a backup; `beyondShare` says that you may take it although you are full.',
    fields:
      'move:varint bucket:u16 mask:u16 epoch:varint role:u8 beyondShare:u8 items:varint reason:utf8',
    example: {
      move: 3,
      bucket: 9,
      mask: 0x00ff,
      epoch: 7,
      role: 'backup',
      beyondShare: false,
      items: 400,
      reason: 'c has less'
    }
  },
  accept: { about: 'You may.', fields: 'move:varint', example: { move: 3 } },
  busy: {
    about: 'Not now; the source tries again later.',
    fields: 'move:varint reason:utf8',
    example: { move: 3, reason: 'receives 12' }
  },
  items: {
    about:
      'Stage *copy*: whole items, one behind the other. Writes to items already sent follow in `batch`.',
    fields: 'move:varint items:raw',
    example: { move: 3, payload: item }
  },
  caughtUp: {
    about:
      'Stage *caught up*: that was all. `seq` is the number of the last write in the bucket; copies elsewhere may differ from version `parted` on (0: none does).',
    fields: 'move:varint seq:varint parted:f64',
    example: { move: 3, seq: 12, parted: 0 }
  },
  cancel: {
    about: 'The move ends here; the target deletes what it got.',
    fields: 'move:varint reason:utf8',
    example: { move: 3, reason: 'split' }
  },
  ship: {
    about:
      'A backup asks the primary to send its copy to another node and to strike it from the row.',
    fields: 'bucket:u16 mask:u16 epoch:varint to:text beyondShare:u8 reason:utf8',
    example: { bucket: 9, mask: 0x00ff, epoch: 7, to: c, beyondShare: false, reason: 'c has less' }
  },
  shipEnd: {
    about: 'The primary did, or could not.',
    fields: 'bucket:u16 done:u8 reason:utf8',
    example: { bucket: 9, done: true, reason: '' }
  },
  batch: {
    about:
      'The writes of one turn, in order, for the backups and for the target of a move. Acknowledging the frame acknowledges the writes.',
    fields: 'writes:raw',
    example: { payload: write }
  },
  promoted: {
    about: 'The primary takes over at this write number (with the row that says so).',
    fields: 'bucket:u16 epoch:varint seq:varint',
    example: { bucket: 9, epoch: 8, seq: 12 }
  },
  behind: {
    about: 'This backup has not the writes it should have: strike it, it wants a fresh copy.',
    fields: 'bucket:u16 epoch:varint',
    example: { bucket: 9, epoch: 7 }
  },
  sync: {
    about:
      'The heartbeat of buckets, from the primary: up to which write you should be, how many are not acknowledged, up to which version deletions may be forgotten, of how many of the last writes watchers may not have been told, and whether one may have missed some of those before.',
    fields: 'count:varint ( mark:mark )*',
    example: {
      buckets: [
        {
          bucket: 9,
          epoch: 7,
          seq: 12,
          pending: 0,
          seenVersion: 7_208_960_000_001,
          parted: 0,
          untold: 0,
          missed: false
        }
      ]
    }
  },
  forward: {
    about:
      'Commands of a client of mine for buckets of yours. After `untilMs` (by your clock; 0: never) they are not executed.',
    fields: 'id:varint hops:u8 acksAll:u8 protocol:u8 client:text untilMs:f64 commands:raw',
    example: {
      id: 5,
      hops: 0,
      acksAll: true,
      protocol: 2,
      client: 'a.1.5',
      untilMs: 0,
      payload: forwarded
    }
  },
  answer: {
    about: 'Their replies.',
    fields: 'id:varint replies:raw',
    example: { id: 5, payload: answered }
  },
  watches: {
    about:
      'All that the clients of one node watch, from that node or one that has heard it; the newest version counts.',
    fields: 'node:text life:f64 version:varint count:varint ( client:utf8 pattern:text )*',
    example: { node: a, life, version: 2, watches: [{ client: 'a.1.5', pattern: 'user:*' }] }
  },
  event: {
    about: 'A write is on every copy: for those of your clients who watch its key.',
    fields: 'mask:u16 event:event',
    example: { mask: 0x00ff, seq: 12, change: 'set', key: 'user:1', names: '$set' }
  },
  gap: { about: 'Events before this one may be missing.', fields: '', example: {} },
  untold: {
    about:
      'What the target of a move has to know of events that may not be with their watchers yet, in pieces; `first` replaces what was there, up to `lostUpTo` some are missing.',
    fields: 'bucket:u16 mask:u16 first:u8 lostUpTo:varint count:varint ( event:event )*',
    example: {
      bucket: 9,
      mask: 0x00ff,
      first: true,
      lostUpTo: 0,
      events: [{ seq: 12, change: 'deleted', key: 'user:1', names: 'gdel' }]
    }
  },
  merge: {
    about: 'Items of a copy whose node lost the primary role in a cut (policy `available`).',
    fields: 'bucket:u16 mask:u16 last:u8 items:raw',
    example: { bucket: 9, mask: 0x00ff, last: true, payload: item }
  },
  merged: {
    about: 'All of it was taken in, or none of it counts.',
    fields: 'bucket:u16 mask:u16 done:u8',
    example: { bucket: 9, mask: 0x00ff, done: true }
  },
  refused: {
    about: 'What you said cannot be true; it was not taken.',
    fields: 'reason:utf8',
    example: { reason: 'another hash' }
  },
  prepare: {
    about:
      'First half of a decision: promise me these rounds of these registers. `version` is that of the voters I know.',
    fields: 'version:varint mask:u16 count:varint ( register:u16 round:varint )*',
    example: { version: 3, mask: 0x00ff, asks: [{ register: 9, round: 2 }] }
  },
  promise: {
    about: 'Promised, with what was accepted there last; or not, with the higher round that was.',
    fields: 'count:varint ( promise:promise )*',
    example: {
      answers: [
        {
          register: 9,
          round: 2,
          ok: true,
          highest: 2,
          accepted: { round: 1, name: a, life },
          value: { kind: 'row', row: { epoch: 7, primary: a, backups: [b] }, deposes: '' }
        },
        { register: 10, round: 2, ok: false, highest: 5, accepted: NO_BALLOT, value: undefined }
      ]
    }
  },
  propose: {
    about: 'Second half: accept these values in these rounds.',
    fields: 'version:varint mask:u16 count:varint ( register:u16 round:varint value:value )*',
    example: {
      version: 3,
      mask: 0x00ff,
      asks: [
        {
          register: 9,
          round: 2,
          value: { kind: 'row', row: { epoch: 8, primary: b, backups: [] }, deposes: a }
        },
        { register: VOTERS_REGISTER, round: 1, value: { kind: 'voters', set: voters } }
      ]
    }
  },
  accepted: {
    about:
      '`verdict` 0: accepted; 1: `number` is the higher round that was promised; 2: the primary it deposes still has its lease, come back in `number` ms.',
    fields: 'count:varint ( register:u16 round:varint verdict:u8 number:varint )*',
    example: { answers: [{ register: 9, round: 2, verdict: 'leased', number: 700 }] }
  },
  voters: { about: 'The voters are these now.', fields: 'voters:set', example: { set: voters } },
  votersSeen: {
    about:
      'I have accepted a set of this version; what an older one grants or decides counts no more with me.',
    fields: 'version:varint',
    example: { version: 3 }
  },
  votersAsk: { about: 'Who votes?', fields: '', example: {} },
  resolve: {
    about:
      'Somebody tried to take this bucket from you and came no further: find out what became of it.',
    fields: 'register:u16',
    example: { register: 9 }
  },
  taken: {
    about:
      'I have accepted, as a voter, that these buckets are taken from you, perhaps with too few others: do not serve them before you know. Said before anything is acknowledged that could renew your lease.',
    fields: 'mask:u16 count:varint ( bucket:u16 epoch:varint )*',
    example: { mask: 0x00ff, rows: [{ bucket: 9, epoch: 8 }] }
  },
  ask: {
    about: 'A command about the other node itself (PUBLISH, INFO of all, …), as RESP.',
    fields: 'id:varint command:raw',
    example: { id: 6, payload: command('DBSIZE') }
  },
  told: {
    about: 'Its reply, as RESP.',
    fields: 'id:varint reply:raw',
    example: { id: 6, payload: latin1Bytes(':400\r\n') }
  },
  setting: {
    about: 'A setting that all nodes share; the highest version counts.',
    fields: 'version:f64 name:text value:text',
    example: { version: 7_208_960_000_001, name: 'notify-keyspace-events', value: 'KEA' }
  },
  keyEvent: {
    about: 'What happened to a key without being a write (a miss), for those who listen there.',
    fields: 'key:text names:text',
    example: { key: 'user:1', names: 'mkeymiss' }
  },
  notes: {
    about:
      'Forwarded writes that were executed and what they were answered, for the target of a move.',
    fields: 'bucket:u16 mask:u16 notes:raw',
    example: { bucket: 9, mask: 0x00ff, payload: note }
  },
  unblock: {
    about:
      'The command that waits at the end of that lane must not wait any longer: 0 its time is over, 1 somebody said so, 2 its client is gone.',
    fields: 'lane:varint how:u8',
    example: { lane: 5, how: 'timeout' }
  },
  await: {
    about: 'Tell me when one of these keys has something; none: no more.',
    fields: 'id:varint count:varint ( key:text )*',
    example: { id: 7, keys: ['jobs', 'urgent'] }
  },
  ready: { about: 'It has.', fields: 'id:varint key:text', example: { id: 7, key: 'jobs' } },
  invalidate: {
    about: 'A key was written to, by this client; for those of your clients who cached it.',
    fields: 'key:text by:text',
    example: { key: 'user:1', by: 'b.1.2' }
  },
  ...RING_ENTRIES
}
