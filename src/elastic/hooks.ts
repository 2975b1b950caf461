/**
 * Commands of the user at certain points, with what they need to know in the environment. A hook is a list of words, or
 * one text for `sh -c`; it runs here, where the master can be reached, or on the host itself through ssh. Exit code 75
 * (EX_TEMPFAIL) is "not now": no machine to be had, or not ready yet.
 */
import { describeExit, type CommandOptions, type CommandResult } from './external-command.js'
import type { Place } from './place.js'

type Words = string | readonly string[]
export const HOOK_PLACES = ['here', 'master', 'host'] as const
export type HookPlace = (typeof HOOK_PLACES)[number]
export type Hook = Words | { readonly on: HookPlace; readonly run: Words }

export const NOT_NOW = 75

export interface HookContext {
  readonly placeOf: (on: HookPlace, host: HookHost | undefined) => Place
  readonly cluster: string
  readonly timeoutMs: number
}

export interface HookHost {
  readonly name: string
  readonly id?: string | undefined
  readonly address?: string | undefined
}

/** Its result; undefined when it says "not now". */
export async function runHook(
  hook: Hook,
  context: HookContext,
  host: HookHost | undefined,
  signal: AbortSignal
): Promise<CommandResult | undefined> {
  const { on, run } =
    typeof hook === 'string' || !('run' in hook) ? { on: 'here' as const, run: hook } : hook
  const argv = typeof run === 'string' ? ['sh', '-c', run] : run
  const env: Record<string, string> = { OC_CLUSTER: context.cluster }
  if (host !== undefined) env['OC_HOST'] = host.name
  if (host?.id !== undefined) env['OC_ID'] = host.id
  if (host?.address !== undefined) env['OC_ADDRESS'] = host.address
  const options: CommandOptions = { timeoutMs: context.timeoutMs, signal, env }
  const result = await context.placeOf(on, host).run(argv, options)
  if (result.code === NOT_NOW) return undefined
  if (result.code !== 0) throw describeExit(argv, result)
  return result
}
