/**
 * Where the page's knowledge comes from: one node's feed, and another node's when that one is silent. Samples come
 * every second, so silence is noticed within a few; then the doors that the last picture named are tried in turn.
 */
import type { LiveEvents } from '../../src/server/live/protocol.js'
import { apply, connection, nodes, origin, token } from './model.js'

const KINDS = ['table', 'rows', 'state', 'samples', 'entries'] as const
const SILENCE_MS_MAX = 4000
/** A door that does not open by then is not waited for. */
const OPEN_MS_MAX = 2500
const LOOK_MS = 500

let source: EventSource | undefined
let heardMs = 0
let opened = false

export function start(): void {
  listen(location.origin)
  setInterval(() => {
    const limit = opened ? SILENCE_MS_MAX : OPEN_MS_MAX
    if (performance.now() - heardMs > limit) goOn()
  }, LOOK_MS)
}

function listen(target: string): void {
  source?.close()
  opened = false
  heardMs = performance.now()
  const next = new EventSource(`${target}/api/live`)
  source = next
  const handle = (kind: keyof LiveEvents, text: string): void => {
    heardMs = performance.now()
    if (!opened) {
      opened = true
      origin.value = target
      connection.value = 'live'
      void fetchSession(target)
    }
    apply(kind, JSON.parse(text) as never)
  }
  for (const kind of KINDS) {
    next.addEventListener(kind, (event: MessageEvent<string>) => handle(kind, event.data))
  }
  // The next look tries another door; one that comes back at once would be a loop of requests.
  next.addEventListener('error', () => {
    if (source !== next) return
    next.close()
    heardMs = Math.min(heardMs, performance.now() - OPEN_MS_MAX + LOOK_MS)
    if (opened) heardMs = 0
  })
}

/** The doors in order, from the one behind the last that was tried. */
let tried = ''
function goOn(): void {
  if (opened) tried = origin.value
  connection.value = 'searching'
  const doors = [
    ...nodes.value.filter(({ state }) => state !== 'dead').map(({ http }) => http),
    ...nodes.value.filter(({ state }) => state === 'dead').map(({ http }) => http)
  ]
  const all = [
    ...new Set([
      ...doors.flatMap((door) => (door === null ? [] : [`http://${door}`])),
      location.origin
    ])
  ]
  const next = all[(all.indexOf(tried) + 1) % all.length]
  tried = next
  listen(next)
}

async function fetchSession(target: string): Promise<void> {
  token.value = null
  try {
    const answer = (await (await fetch(`${target}/api/session`)).json()) as { token: string | null }
    if (origin.value === target) token.value = answer.token
  } catch {
    // Without a token the page only shows.
  }
}

/** An action of the node the page is at; says what went wrong, if anything did. */
export async function post(path: string, body: unknown = {}): Promise<unknown> {
  const response = await fetch(`${origin.value}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-opencluster-token': token.value ?? '' },
    body: JSON.stringify(body)
  })
  const answer = (await response.json()) as { message?: string }
  if (!response.ok) throw new Error(answer.message ?? `${response.status}`)
  return answer
}
