import { describe, expect, it } from 'vitest'
import type { Ballot } from '../core/agreement/ballot.js'
import { nodeName } from '../core/ids.js'
import { GiftChains } from './gift-chain.js'

const ballot = (round: number, name = 'a'): Ballot => ({ round, name: nodeName(name), life: 1 })
const BUCKET = 7

describe('a chain of ballots of one process', () => {
  it('is its own as long as it goes on from itself', () => {
    const chains = new GiftChains()
    chains.begin(BUCKET, ballot(3))
    expect(chains.isOwn(BUCKET, ballot(3))).toBe(true)
    expect(chains.isOwn(BUCKET + 1, ballot(3))).toBe(false)
    chains.goOn(BUCKET, ballot(5), ballot(3))
    expect(chains.isOwn(BUCKET, ballot(5))).toBe(true)
    // What a quorum shows is the newest; an older one is not to be met any more.
    expect(chains.isOwn(BUCKET, ballot(3))).toBe(false)
  })

  it('is not its own where it finishes what another node has proposed', () => {
    const chains = new GiftChains()
    chains.goOn(BUCKET, ballot(5), undefined)
    expect(chains.isOwn(BUCKET, ballot(5))).toBe(false)
    // Its own name on a ballot is not enough to begin one.
    chains.goOn(BUCKET, ballot(7), ballot(5))
    expect(chains.isOwn(BUCKET, ballot(7))).toBe(false)
  })

  it('ends where another node has gone on from it', () => {
    const chains = new GiftChains()
    chains.begin(BUCKET, ballot(3))
    chains.goOn(BUCKET, ballot(6), ballot(5, 'b'))
    expect(chains.isOwn(BUCKET, ballot(3))).toBe(false)
    expect(chains.isOwn(BUCKET, ballot(6))).toBe(false)
  })

  it('ends with what is decided', () => {
    const chains = new GiftChains()
    chains.begin(BUCKET, ballot(3))
    chains.end(BUCKET)
    expect(chains.isOwn(BUCKET, ballot(3))).toBe(false)
  })
})
