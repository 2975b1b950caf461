/**
 * Which copy a node with too many gives away, and to whom. The target is any node below its quota, a
 * different one for each asker so that several newcomers fill at once. The kind is the one this node has more
 * of than its share. Among the buckets of that kind, the one is taken whose other holders have the least
 * in common with the target and the most with this node: so each node shares its buckets with all the
 * others alike, and when one dies, all help.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import { MAX_COPIES, mix } from '../table.js'
import type { Action, CopyKind } from './action.js'
import type { View } from './view.js'
import { commonZone, wouldCrowd } from './zones.js'

export type Move = Extract<Action, { kind: 'move' }>

/** A move of a surplus copy to a node that lacks one. */
export function findMove(view: View, salt: number, only: NodeIndex): Move | undefined {
  if (!hasSurplus(view)) return undefined
  if (only !== NOBODY) return isTarget(view, only) ? chooseBucket(view, only) : undefined
  const targets = view.roster.staying
    .filter(({ node }) => isTarget(view, node))
    .map(({ node }) => ({ node, score: mix(view.table.rankOf(node) ^ salt) }))
    .sort((a, b) => a.score - b.score)
  for (const { node } of targets) {
    const move = chooseBucket(view, node)
    if (move !== undefined) return move
  }
  return undefined
}

/** Whom `findMove` would send something to, without looking for the bucket: enough to ask it. */
export function findTarget(view: View, salt: number): NodeIndex {
  let best = NOBODY
  let bestScore = Infinity
  if (!hasSurplus(view)) return NOBODY
  for (const { node } of view.roster.staying) {
    if (!isTarget(view, node)) continue
    const score = mix(view.table.rankOf(node) ^ salt)
    if (score >= bestScore) continue
    best = node
    bestScore = score
  }
  return best
}

function hasSurplus(view: View): boolean {
  return view.table.totalOf(view.self) > view.quotaOf(view.self)
}

/** Whether a node with a surplus should give to this one: not if both are inside their shares. */
function isTarget(view: View, node: NodeIndex): boolean {
  const { table, self, shares } = view
  const there = table.totalOf(node)
  if (there >= view.quotaOf(node)) return false
  return there < shares.low[node] || table.totalOf(self) > shares.high[self]
}

/**
 * A move to a node that is full itself but can pass a bucket on to one that lacks some, where this
 * node has none it could send there. Only zones and very different weights make that necessary.
 */
export function findRelay(view: View, only: NodeIndex): Move | undefined {
  const { table, roster, self, shares } = view
  if (roster.uniform || !hasSurplus(view)) return undefined
  if (table.totalOf(self) <= shares.high[self] && !someoneStarves(view)) return undefined
  const lacking = roster.staying.filter(({ node }) => table.totalOf(node) < view.quotaOf(node))
  for (const { node } of roster.staying) {
    if (node === self || (only !== NOBODY && node !== only)) continue
    if (table.totalOf(node) > view.quotaOf(node)) continue
    if (!lacking.some((hungry) => hungry.node !== node && hasMovable(view, node, hungry.node)))
      continue
    const move = chooseBucket(view, node)
    if (move !== undefined) return { ...move, beyondShare: true }
  }
  return undefined
}

function someoneStarves({ table, roster, shares }: View): boolean {
  return roster.staying.some(({ node }) => table.totalOf(node) < shares.low[node])
}

/** A move that brings the copies of a bucket into different zones, by the fullest of its holders. */
export function findZoneMove(view: View, only: NodeIndex): Move | undefined {
  const { table, roster, self } = view
  if (roster.zones < 2) return undefined
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    if (!table.isHolder(bucket, self) || commonZone(table, roster, bucket) === -1) continue
    if (fullestHolder(view, bucket) !== self) continue
    const zone = roster.zoneOf(self)
    let best = NOBODY
    for (const { node } of roster.staying) {
      if (roster.zoneOf(node) === zone || table.isHolder(bucket, node)) continue
      if (best === NOBODY || room(view, node) > room(view, best)) best = node
    }
    if (best === NOBODY || (only !== NOBODY && best !== only)) continue
    return {
      kind: 'move',
      bucket,
      to: best,
      copy: table.primaryOf(bucket) === self ? 'primary' : 'backup',
      beyondShare: true
    }
  }
  return undefined
}

function room(view: View, node: NodeIndex): number {
  return view.quotaOf(node) - view.table.totalOf(node)
}

function fullestHolder(view: View, bucket: number): NodeIndex {
  let fullest = NOBODY
  for (let place = 0; place < MAX_COPIES; place++) {
    const node = view.table.holderAt(bucket, place)
    if (!view.roster.isStaying(node)) continue
    if (fullest === NOBODY || room(view, node) < room(view, fullest)) fullest = node
  }
  return fullest
}

function hasMovable({ table, roster }: View, from: NodeIndex, to: NodeIndex): boolean {
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    if (!table.isHolder(bucket, from) || table.isHolder(bucket, to)) continue
    if (!wouldCrowd(table, roster, { bucket, node: to, instead: from })) return true
  }
  return false
}

function preferredKind({ table, self, shares }: View, to: NodeIndex): CopyKind {
  const primaries = table.primariesOf(self) - shares.primaryLow[self]
  const backups = table.backupsOf(self) - (shares.low[self] - shares.primaryLow[self])
  const wanted = table.primariesOf(to) < shares.primaryHigh[to]
  return wanted && primaries > 0 && primaries >= backups ? 'primary' : 'backup'
}

/**
 * One pass over the table finds this node's rows and what each other node has in common with the two; a second one,
 * over this node's rows only, takes the best. (bench/micro/plan.ts: this is nearly all the cost of a plan.)
 */
function chooseBucket(view: View, to: NodeIndex): Move | undefined {
  const { table, roster, self } = view
  const { rows, common } = survey(view, to)
  const kind = preferredKind(view, to)
  const holders = table.holders
  let best = -1
  let bestScore = Infinity
  for (const at of rows) {
    const bucket = at / MAX_COPIES
    let score = 0
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = holders[at + place]
      if (holder === NOBODY) break
      if (holder !== self) score += common[holder]
    }
    // A bucket of the other kind only when there is none of the right one.
    if ((holders[at] === self) !== (kind === 'primary')) score += 1_000_000
    // The bucket that came last does not travel on at once (document 000's star).
    if (bucket === view.lastTransfer) score += 500_000
    if (score >= bestScore) continue
    if (wouldCrowd(table, roster, { bucket, node: to, instead: self })) continue
    best = bucket
    bestScore = score
  }
  if (best === -1) return undefined
  const copy = table.primaryOf(best) === self ? 'primary' : 'backup'
  return { kind: 'move', bucket: best, to, copy }
}

/**
 * The places in the table of this node's rows that `to` is not in; and for each node the buckets it has in common with
 * `to`, less those it has in common with this node.
 */
function survey({ table, self }: View, to: NodeIndex): { rows: Int32Array; common: Int32Array } {
  const rows = new Int32Array(table.totalOf(self))
  const common = new Int32Array(table.names.length)
  const holders = table.holders
  let count = 0
  for (let at = 0; at < holders.length; at += MAX_COPIES) {
    let sign = 0
    let here = false
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = holders[at + place]
      if (holder === self) {
        here = true
        sign--
      } else if (holder === to) sign++
    }
    if (sign === 0) continue
    if (here) rows[count++] = at
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = holders[at + place]
      if (holder === NOBODY) break
      common[holder] += sign
    }
  }
  return { rows: rows.subarray(0, count), common }
}
