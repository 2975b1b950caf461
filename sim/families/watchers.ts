/**
 * Clients that watch: some a key, some a pattern, one everything. The first thing on each connection is the watch;
 * after that they only ask from time to time whether the node is still there, and look for another one if not.
 */
import type { Draft } from '../client.js'
import { readDone } from './family.js'

export const WATCH_FAMILY = 'watch'

const PATTERNS = ['*', 'register*', 'counter1', '[bl]*[05]', 'cell?']

/** The watcher's pattern; the first one sees everything. */
export function patternOf(watcher: number): string {
  return PATTERNS[watcher % PATTERNS.length]
}

export function drawWatch(watcher: number): Draft {
  const pattern = patternOf(watcher)
  return about(pattern, ['OC.WATCH', `watcher-${watcher}`, pattern], 'OK')
}

export function drawPing(watcher: number): Draft {
  return about(patternOf(watcher), ['PING'], 'PONG')
}

function about(place: string, args: readonly string[], wanted: string): Draft {
  const read: Draft['read'] = (reply) => (reply === wanted ? readDone('OK') : undefined)
  return { family: WATCH_FAMILY, key: '', place, action: { kind: 'session' }, args, read }
}
