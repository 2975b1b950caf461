/** The messages of the ring for docs/protocol.md, as in protocol-entries.ts. */
import { latin1Bytes } from '../../src/core/bytes.js'
import { entries as offers } from '../../src/wire/peer/ring-parts.js'
import type { RingMessage } from '../../src/wire/peer/ring.js'
import type { Entry } from './protocol-entries.js'
import { a, item, life, offered, ring, written } from './protocol-samples.js'

export const RING_ENTRIES: { readonly [K in RingMessage['kind']]: Entry<K> } = {
  ringBeat: {
    about:
      'I live, I know this configuration; `flags` 1: I have all it gives me, 2: I hold nothing any more.',
    fields: 'version:varint flags:u8 records:varint',
    example: { version: 4, filled: true, drained: false, records: 1000 }
  },
  ringWish: {
    about: 'Please make this my record in the configuration: I join, move, or leave.',
    fields: 'member:ringMember',
    example: { member: ring.members[0] }
  },
  ringConfig: {
    about: 'This is decided.',
    fields: 'cluster:u32 configuration:configuration',
    example: { cluster: 0x5eed_0001, configuration: ring }
  },
  ringPrepare: {
    about: 'Promise me this round of the decision on the next version.',
    fields: 'version:varint round:varint',
    example: { version: 5, round: 1 }
  },
  ringPromise: {
    about: '`flags` 1: promised; 2: this was accepted before.',
    fields:
      'version:varint round:varint flags:u8 highest:varint ( at:varint by:text life:f64 configuration:configuration )?',
    example: {
      version: 5,
      round: 2,
      ok: true,
      highest: 2,
      accepted: { ballot: { round: 1, name: a, life }, configuration: ring }
    }
  },
  ringPropose: {
    about: 'Accept this configuration.',
    fields: 'version:varint round:varint configuration:configuration',
    example: { version: 5, round: 1, configuration: ring }
  },
  ringAccepted: {
    about: '`flags` 1: accepted; otherwise `highest` was promised.',
    fields: 'version:varint round:varint flags:u8 highest:varint',
    example: { version: 5, round: 1, ok: true, highest: 1 }
  },
  ringRead: {
    about: 'What have you under this key?',
    fields: 'id:varint version:varint key:raw',
    example: { id: 8, version: 4, payload: latin1Bytes('k') }
  },
  ringValue: {
    about: 'The item; nothing if nothing is known of the key.',
    fields: 'id:varint status:u8 item:raw',
    example: { id: 8, status: 'ok', payload: item }
  },
  ringWrite: {
    about: 'Keep this item.',
    fields: 'id:varint version:varint item:raw',
    example: { id: 9, version: 4, payload: item }
  },
  ringWritten: {
    about: 'Kept; or, with *newer*, the version that is held.',
    fields: 'id:varint status:u8 number:f64',
    example: { id: 9, status: 'newer', number: 7_208_960_000_002 }
  },
  ringItems: {
    about: 'Items you lack: repairs, hints, what was fetched.',
    fields: 'items:raw',
    example: { payload: item }
  },
  ringPull: {
    about:
      'Give me what the new ring gives me, from this place on; `flags` 1: whole items, otherwise keys and versions.',
    fields: 'version:varint slice:u16 position:varint flags:u8',
    example: { version: 4, slice: 17, position: 0, whole: true }
  },
  ringPulled: {
    about: 'A piece of it, and where to go on; `flags` 1: whole items, 2: that was all.',
    fields: 'version:varint slice:u16 position:varint flags:u8 payload:raw',
    example: {
      version: 4,
      slice: 18,
      position: 0,
      whole: false,
      done: false,
      payload: written((w) => {
        offers.write(offered, w)
      })
    }
  },
  ringFetch: {
    about: 'Send me these.',
    fields: 'count:varint ( key:bytes )*',
    example: { keys: [latin1Bytes('k')] }
  },
  ringDigests: {
    about: 'Digests of what we both hold in these slices; those left out are empty.',
    fields: 'version:varint first:u16 last:u16 count:varint ( slice:u16 first:u32 second:u32 )*',
    example: { version: 4, first: 0, last: 63, digests: [{ slice: 17, first: 1, second: 2 }] }
  },
  ringDiffer: {
    about: 'In these we differ: tell me what you have.',
    fields: 'version:varint count:varint ( slice:u16 )*',
    example: { version: 4, slices: [17] }
  },
  ringOffer: {
    about: 'I have these; which of them do you lack?',
    fields: 'id:varint version:varint count:varint ( offered:offered )*',
    example: { id: 10, version: 4, entries: offered }
  },
  ringLacks: {
    about: 'These, by their places in the offer.',
    fields: 'id:varint count:varint ( index:varint )*',
    example: { id: 10, lacks: [0] }
  },
  ringScan: {
    about:
      'What have you from this key on (`flags` 1: it included) up to `end` (empty: to the last)?',
    fields: 'id:varint flags:u8 start:bytes end:bytes limit:varint',
    example: { id: 11, start: latin1Bytes('a'), inclusive: true, end: latin1Bytes(''), limit: 100 }
  },
  ringScanned: {
    about: 'Items in the order of their keys; `flags` 1: there is no more.',
    fields: 'id:varint flags:u8 items:raw',
    example: { id: 11, done: true, payload: item }
  },
  ringHello: {
    about:
      'The first on every stream: the life of the process whose memory the sender has, its own or an earlier one.',
    fields: 'memory:f64',
    example: { memory: life }
  },
  ringHinted: {
    about: 'What was kept for you while you were away has been sent.',
    fields: '',
    example: {}
  }
}
