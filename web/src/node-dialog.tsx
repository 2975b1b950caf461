/** A node in detail, and what can be done with it. Whatever changes something is asked for twice. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { formatBytes, formatCount } from './format.js'
import { nodes, rows, state, token } from './model.js'
import { post } from './source.js'

const opened = signal<string | undefined>(undefined)
const asked = signal<'leave' | 'forget' | undefined>(undefined)
const problem = signal('')
const busy = signal(false)

export function openNode(name: string): void {
  asked.value = undefined
  problem.value = ''
  opened.value = name
}

export function NodeDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const node = nodes.value.find(({ name }) => name === opened.value)
  const isOpen = node !== undefined
  useEffect(() => {
    if (isOpen && dialog.current?.open === false) dialog.current.showModal()
    if (!isOpen && dialog.current?.open === true) dialog.current.close()
  }, [isOpen])
  return (
    <dialog ref={dialog} class="panel" aria-label="Node" onClose={() => (opened.value = undefined)}>
      {node !== undefined && (
        <>
          <header>
            <h2>{node.name}</h2>
            <em class={`state ${node.state}`}>{node.state}</em>
          </header>
          <dl>
            <Fact name="clients" value={node.resp} />
            <Fact name="HTTP" value={node.http ?? 'off'} />
            <Fact name="zone" value={node.zone === '' ? 'none' : node.zone} />
            <Fact name="weight" value={String(node.weight)} />
            <Fact
              name="items"
              value={node.items === null ? 'not known' : formatCount(node.items)}
            />
            <Fact name="data" value={node.bytes === null ? 'not known' : formatBytes(node.bytes)} />
            {state.value?.ring === undefined && (
              <Fact
                name="balancer"
                value={node.plan === '' ? 'had nothing to decide yet' : node.plan}
              />
            )}
          </dl>
          {problem.value !== '' && (
            <p class="problem" role="alert">
              {problem.value}
            </p>
          )}
          <Actions
            name={node.name}
            isDead={node.state === 'dead'}
            canLeave={node.state === 'alive'}
          />
        </>
      )}
    </dialog>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}

function Actions({ name, isDead, canLeave }: { name: string; isDead: boolean; canLeave: boolean }) {
  const close = (): void => {
    opened.value = undefined
  }
  if (asked.value !== undefined) {
    const action = asked.value
    return (
      <div class="confirm" role="alertdialog" aria-label="Are you sure?">
        <p>{describeAction(action, name)}</p>
        <div class="buttons">
          <button onClick={() => (asked.value = undefined)}>Cancel</button>
          <button class="danger" disabled={busy.value} onClick={() => void perform(action, name)}>
            {action === 'leave' ? `Drain ${name}` : `Forget ${name}`}
          </button>
        </div>
      </div>
    )
  }
  const mayAct = token.value !== null
  return (
    <div class="buttons">
      {!mayAct && <small>Actions are taken from the machine the node runs on.</small>}
      {canLeave && (
        <button disabled={!mayAct} onClick={() => (asked.value = 'leave')}>
          Drain…
        </button>
      )}
      {isDead && (
        <button disabled={!mayAct} onClick={() => (asked.value = 'forget')}>
          Forget…
        </button>
      )}
      <button class="main" onClick={close}>
        Close
      </button>
    </div>
  )
}

function describeAction(action: 'leave' | 'forget', name: string): string {
  const held = rows.value.filter((holders) => holders.includes(name)).length
  const what = state.value?.ring === undefined ? `${held} copies on` : 'records of'
  return action === 'leave'
    ? `The ${what} ${name} go to the other nodes, then its process ends. Clients lose nothing.`
    : `${name} is struck from the cluster. If its process comes back it has to join anew, with nothing.`
}

async function perform(action: 'leave' | 'forget', name: string): Promise<void> {
  busy.value = true
  problem.value = ''
  try {
    await post(`/api/nodes/${encodeURIComponent(name)}/${action}`)
    opened.value = undefined
  } catch (error) {
    problem.value = error instanceof Error ? error.message : String(error)
    asked.value = undefined
  } finally {
    busy.value = false
  }
}
