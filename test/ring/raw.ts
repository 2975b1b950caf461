/** A request as bytes, for what no client would send. */
import { connect } from 'node:net'

/** Everything that comes back until the connection ends, or until the first whole head if it stays open. */
export function sendRaw(
  http: string,
  request: string | Uint8Array,
  answerMsMax = 5000
): Promise<string> {
  const [host, port] = http.split(':')
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ host, port: Number(port) }, () => socket.write(request))
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    const timer = setTimeout(end, answerMsMax)
    socket.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
      if (isWhole(text)) end()
    })
    socket.on('close', end)
    socket.on('error', end)
  })
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0)
}

function isWhole(text: string): boolean {
  const at = text.indexOf('\r\n\r\n')
  if (at < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, at))?.[1]
  return length !== undefined && text.length >= at + 4 + Number(length)
}
