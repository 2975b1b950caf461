import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Outgoing, TurnOutput } from './turn-output.js'

/** More in all than the kernel keeps for somebody who does not read. */
const PARTS = 4000
const PART_BYTES = 4096

let server: ReturnType<typeof createServer>
let sockets: Socket[]

beforeEach(async () => {
  sockets = []
  server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

/** Both ends of a connection. */
async function pair(): Promise<{ near: Socket; far: Socket }> {
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [near] = await accepted
  sockets.push(near, far)
  return { near, far }
}

/** The n-th part for a connection: unlike every other. */
function part(connection: number, n: number): Buffer {
  const bytes = Buffer.alloc(PART_BYTES, (connection * 31 + n) & 0xff)
  bytes.writeUInt32LE(n, 0)
  return bytes
}

async function readAll(far: Socket, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let gathered = 0
  far.on('data', (bytes: Buffer) => {
    pieces.push(bytes)
    gathered += bytes.length
  })
  while (gathered < length) await once(far, 'data')
  return Buffer.concat(pieces)
}

test('everybody gets all of its parts in order, however late it reads and whatever the buffer holds by then', async () => {
  const [one, two] = [await pair(), await pair()]
  const written: Outgoing[] = []
  const output = new TurnOutput((outgoing) => written.push(outgoing))
  const targets = [one, two].map(({ near }) => new Outgoing(near))
  // Nobody reads yet, so that the sockets keep parts of buffers while others are filled.
  for (let n = 0; n < PARTS; n++) {
    targets.forEach((target, index) => output.put(target, part(index, n)))
    if (n % 7 === 0) output.flush()
  }
  const large = Buffer.alloc(1024 * 1024, 9)
  for (const target of targets) output.put(target, large)
  output.flush()
  const wanted = [0, 1].map((index) =>
    Buffer.concat([...Array.from({ length: PARTS }, (_, n) => part(index, n)), large])
  )
  const got = await Promise.all([one, two].map(({ far }, i) => readAll(far, wanted[i].length)))
  expect(got[0].equals(wanted[0])).toBe(true)
  expect(got[1].equals(wanted[1])).toBe(true)
  expect(new Set(written)).toEqual(new Set(targets))
})

test('buffers are used again once sockets have taken what they held', async () => {
  const { near, far } = await pair()
  const output = new TurnOutput(() => undefined)
  const target = new Outgoing(near)
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < PARTS; n++) output.put(target, part(round, n))
    output.flush()
    const got = await readAll(far, PARTS * PART_BYTES)
    far.removeAllListeners('data')
    for (let n = 0; n < PARTS; n++) {
      const at = n * PART_BYTES
      expect(got.subarray(at, at + PART_BYTES).equals(part(round, n))).toBe(true)
    }
  }
})
