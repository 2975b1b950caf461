/** The least an HTTP store in Node can be: a Map behind node:http, for what our HTTP door is measured against. */
import { createServer } from 'node:http'

const VALUES_MAX = 10_000_000
const values = new Map<string, Buffer>()

const server = createServer((request, response) => {
  const id = new URL(request.url ?? '/', 'http://127.0.0.1').searchParams.get('id') ?? ''
  if (request.method === 'GET') {
    const value = values.get(id)
    response.writeHead(value === undefined ? 404 : 200, { 'content-length': value?.length ?? 0 })
    response.end(value)
    return
  }
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    if (values.size < VALUES_MAX) values.set(id, Buffer.concat(pieces))
    response.writeHead(201, { 'content-length': 0 })
    response.end()
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`ready ${address?.port ?? 0}\n`)
})
process.once('disconnect', () => process.exit(0))
