/** Which bucket or arc a key is in, which nodes hold it, and what it looks like. Keys and values are text and nothing else. */
import { signal } from '@preact/signals'
import type { FoundKey } from '../../src/server/live/protocol.js'
import { formatBucket } from './format.js'
import { found, rows, token } from './model.js'
import { post } from './source.js'

const result = signal<FoundKey | undefined>(undefined)
const problem = signal('')

export function KeyLookup() {
  const mayLook = token.value !== null
  const submit = (event: Event): void => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const key = new FormData(form).get('key')
    if (typeof key === 'string' && key !== '') void look(key)
  }
  return (
    <section class="panel lookup" aria-label="Key look-up">
      <h2>Key</h2>
      <form onSubmit={submit}>
        <input
          name="key"
          placeholder={mayLook ? 'user:1' : 'only from the machine the node runs on'}
          aria-label="Key"
          autocomplete="off"
          spellcheck={false}
          disabled={!mayLook}
        />
        <button disabled={!mayLook}>Look up</button>
      </form>
      {problem.value !== '' && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {result.value !== undefined && <Result {...result.value} />}
    </section>
  )
}

function Result({ bucket, position, primary, backups, type, ttlMs, preview = [] }: FoundKey) {
  const place = position ?? `#${formatBucket(bucket, rows.value.length)}`
  return (
    <div class="result" aria-live="polite">
      <p>
        <b>{place}</b>
        <span>{primary ?? 'nobody'}</span>
        {backups.map((name) => (
          <span class="weak" key={name}>
            {name}
          </span>
        ))}
        <em>{type ?? 'no such key'}</em>
        {typeof ttlMs === 'number' && <em>{`expires in ${Math.ceil(ttlMs / 1000)} s`}</em>}
      </p>
      {preview.length > 0 && <pre>{preview.join('\n')}</pre>}
    </div>
  )
}

async function look(key: string): Promise<void> {
  problem.value = ''
  try {
    const answer = (await post('/api/key', { key })) as FoundKey
    result.value = answer
    found.value = answer.bucket
  } catch (error) {
    result.value = undefined
    found.value = undefined
    problem.value = error instanceof Error ? error.message : String(error)
  }
}
