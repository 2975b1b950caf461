/**
 * How two nodes convince each other that they know the cluster's secret, without saying it:
 *
 *   caller   OC.LINK protocol name nonce
 *   called   [name, nonce, HMAC(secret, 'called' + everything above)]
 *   caller   OC.PROOF HMAC(secret, 'caller' + everything above)
 *   called   OK, and from then on frames
 *
 * Both nonces are in both proofs, so a recorded one is worth nothing, and the two sides prove
 * different texts, so neither can be had from the other. A cluster without a secret has an
 * empty one; the same handshake then only says who is there.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export type Side = 'called' | 'caller'

/** What both sides know before the first proof. */
export interface Greeting {
  readonly protocol: number
  readonly caller: string
  readonly called: string
  readonly callerNonce: string
  readonly calledNonce: string
}

const NONCE_BYTES = 16
const NONCE = /^[0-9a-f]{32}$/

export function createNonce(): string {
  return randomBytes(NONCE_BYTES).toString('hex')
}

export function isNonce(text: string): boolean {
  return NONCE.test(text)
}

export function prove(secret: Uint8Array, side: Side, greeting: Greeting): string {
  const { protocol, caller, called, callerNonce, calledNonce } = greeting
  const text = ['opencluster', side, protocol, caller, called, callerNonce, calledNonce].join('\n')
  return createHmac('sha256', secret).update(text).digest('hex')
}

export function isProof(
  proof: string,
  secret: Uint8Array,
  side: Side,
  greeting: Greeting
): boolean {
  const expected = Buffer.from(prove(secret, side, greeting))
  const given = Buffer.from(proof)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
