import { expect, test } from 'vitest'
import { createNonce, isNonce, isProof, prove, type Greeting } from './handshake.js'

const secret = Buffer.from('a secret of this cluster')
const greeting: Greeting = {
  protocol: 1,
  caller: 'a',
  called: 'b',
  callerNonce: createNonce(),
  calledNonce: createNonce()
}

test('a proof holds for one secret, one side and one greeting', () => {
  const proof = prove(secret, 'caller', greeting)
  expect(isProof(proof, secret, 'caller', greeting)).toBe(true)
  expect(isProof(proof, Buffer.from('another secret'), 'caller', greeting)).toBe(false)
  expect(isProof(proof, secret, 'called', greeting)).toBe(false)
  for (const change of [{ calledNonce: createNonce() }, { caller: 'c' }, { protocol: 2 }]) {
    expect(isProof(proof, secret, 'caller', { ...greeting, ...change })).toBe(false)
  }
  expect(isProof('', secret, 'caller', greeting)).toBe(false)
})

test('nonces are fresh and have one form', () => {
  const nonce = createNonce()
  expect(isNonce(nonce)).toBe(true)
  expect(createNonce()).not.toBe(nonce)
  expect(['', nonce.toUpperCase() + 'G', nonce.slice(1), `${nonce}\n`].some(isNonce)).toBe(false)
})
