/**
 * The command line of document 003 as it stands there: `-p PORT`, `-a -u URL` to join the ring of the node at that URL,
 * `-h H1 H2 ...` for positions by hand. It becomes the flags of `start`; where to join is asked at the URL.
 */
import { OpenClusterError } from '../errors.js'

const ASK_MS_MAX = 5000

/** Whether these are the document's words. */
export function isAlias(argv: readonly string[]): boolean {
  return argv.some((word) => word === '-p' || word === '-a' || word === '-u')
}

export interface Alias {
  readonly port: string | undefined
  readonly joins: boolean
  readonly url: string | undefined
  readonly positions: readonly string[]
  /** Flags of `start` that stand beside them. */
  readonly rest: readonly string[]
}

export function readAlias(argv: readonly string[]): Alias {
  let [port, url, joins]: [string | undefined, string | undefined, boolean] = [
    undefined,
    undefined,
    false
  ]
  const positions: string[] = []
  const rest: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]
    if (word === '-p') port = argv[++i]
    else if (word === '-u') url = argv[++i]
    else if (word === '-a') joins = true
    else if (word === '-h') {
      while (i + 1 < argv.length && /^-?\d+$/.test(argv[i + 1])) positions.push(argv[++i])
    } else rest.push(word)
  }
  return { port, joins, url, positions, rest }
}

/** The same as flags of `start`. */
export async function translateAlias(argv: readonly string[]): Promise<string[]> {
  const { port, joins, url, positions, rest } = readAlias(argv)
  if (port === undefined) throw new OpenClusterError('OC_MISSING_OPTION', '-p: which port?')
  if (joins && url === undefined) {
    throw new OpenClusterError('OC_MISSING_OPTION', '-u: -a needs the URL of a node of the ring')
  }
  const flags = ['--placement=ring', '--host=localhost', '--port=0', `--http-port=${port}`]
  if (positions.length > 0) flags.push(`--positions=${positions.join(',')}`)
  if (joins && url !== undefined) flags.push(`--join=${(await askForNodes(url)).join(',')}`)
  return [...flags, ...rest]
}

/** Where the nodes of a ring are reached by other nodes. */
async function askForNodes(url: string): Promise<string[]> {
  const problem = (reason: string): OpenClusterError =>
    new OpenClusterError('OC_UNREACHABLE', `-u ${url}: ${reason}`)
  let answer: unknown
  try {
    const response = await fetch(new URL('/v0/cluster-config', url), {
      signal: AbortSignal.timeout(ASK_MS_MAX)
    })
    answer = await response.json()
  } catch (error) {
    throw problem(error instanceof Error ? error.message : String(error))
  }
  const nodes = isObject(answer) && Array.isArray(answer.nodes) ? (answer.nodes as unknown[]) : []
  const addresses = nodes.flatMap((node) =>
    isObject(node) && typeof node.address === 'string' && node.state !== 'away'
      ? [node.address]
      : []
  )
  if (addresses.length === 0) throw problem('this is no node of a ring')
  return addresses
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
