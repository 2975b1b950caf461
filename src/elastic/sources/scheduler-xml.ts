/**
 * Reads the XML of Grid Engine's commands. Half an answer would look like an empty queue, so the parser is a strict one
 * that refuses what is not whole, and everything read goes through functions that refuse what is not there. A queue of
 * ten thousand jobs is four megabytes at every pass: an event parser and a small tree of what is wanted take a tenth
 * of the time that a general tree of everything takes. Entities are the five of XML, never ones the text defines.
 */
import { SaxesParser } from 'saxes'
import { FactsError } from './facts-error.js'

export type XmlElement = Readonly<Record<string, unknown>>

/** Elements that may come once or many times, and are wanted as a list always. */
const REPEATED = new Set([
  'host',
  'hostvalue',
  'resourcevalue',
  'Queue-List',
  'job_list',
  'hard_request',
  'hard_req_queue',
  'predecessor_jobs',
  'element',
  'ulong_sublist',
  'task_id_range'
])

/** Large parts that nobody reads. */
const IGNORED = new Set([
  'JB_env_list',
  'JB_ja_tasks',
  'JB_mail_list',
  'JB_stdout_path_list',
  'JB_stderr_path_list',
  'JB_job_args',
  'JB_binding'
])

const DEPTH_MAX = 64
const PARSING = { xmlns: false, position: false } as const

/** The content of the root element, which must be the one expected. */
export function parseXml(text: string, what: string, root: string): XmlElement {
  if (text.trim() === '') throw new FactsError(`${what}: an empty answer`)
  // Nothing that Grid Engine prints has one, and what it could define is not wanted.
  if (text.includes('<!DOCTYPE')) throw new FactsError(`${what}: a document type in the answer`)
  const tree = new TreeBuilder(what)
  const parser = new SaxesParser<typeof PARSING>(PARSING)
  parser.on('error', (error) => {
    throw new FactsError(`${what}: not whole XML: ${error.message}`)
  })
  parser.on('opentag', ({ name, attributes }) => tree.open(name, attributes))
  parser.on('text', (piece) => tree.text(piece))
  parser.on('cdata', (piece) => tree.text(piece))
  parser.on('closetag', () => tree.close())
  parser.write(text).close()
  const names = Object.keys(tree.document)
  if (names.length !== 1 || names[0] !== root) {
    throw new FactsError(`${what}: <${root}> expected, not <${names.join('>, <')}>`)
  }
  return toElement(tree.document[root])
}

interface OpenElement {
  readonly name: string
  /** Undefined while there is neither an attribute nor a child: then it is its text. */
  content: Record<string, unknown> | undefined
  text: string
}

/** Elements as objects: attributes as `@name`, text beside anything else as `#text`, what is repeated as a list. */
class TreeBuilder {
  readonly document = createContent()
  readonly #what: string
  readonly #open: OpenElement[] = []
  /** How deep it is inside of a part that nobody reads. */
  #ignored = 0

  constructor(what: string) {
    this.#what = what
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#ignored > 0 || IGNORED.has(name)) {
      this.#ignored++
      return
    }
    if (this.#open.length >= DEPTH_MAX) throw new FactsError(`${this.#what}: nested too deeply`)
    let content: Record<string, unknown> | undefined
    for (const key of Object.keys(attributes)) {
      content ??= createContent()
      content[`@${key}`] = attributes[key]
    }
    this.#open.push({ name, content, text: '' })
  }

  text(piece: string): void {
    const element = this.#open.at(-1)
    if (this.#ignored === 0 && element !== undefined) element.text += piece
  }

  close(): void {
    if (this.#ignored > 0) {
      this.#ignored--
      return
    }
    const element = this.#open.pop()
    if (element === undefined) return
    const { name, content } = element
    const text = element.text.trim()
    if (content !== undefined && text !== '') content['#text'] = text
    const parent = this.#open.at(-1)
    if (parent === undefined) addChild(this.document, name, content ?? text)
    else addChild((parent.content ??= createContent()), name, content ?? text)
  }
}

/** Without a prototype: an element may have any name. */
function createContent(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

function addChild(parent: Record<string, unknown>, name: string, child: unknown): void {
  const before = parent[name]
  if (Array.isArray(before)) before.push(child)
  else if (before !== undefined) parent[name] = [before, child]
  else parent[name] = REPEATED.has(name) ? [child] : child
}

/** An element without children is a text for the parser. */
export function toElement(value: unknown): XmlElement {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as XmlElement)
    : {}
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  const value = element[name]
  if (value === undefined) return []
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((child) =>
    typeof child === 'string' ? { '#text': child } : toElement(child)
  )
}

export function childOf(element: XmlElement, name: string): XmlElement {
  return toElement(element[name])
}

/** The text of a child, '' if it has none; undefined if there is no such child. */
export function textOf(element: XmlElement, name: string): string | undefined {
  const value = element[name]
  const one: unknown = Array.isArray(value) ? value[0] : value
  if (typeof one === 'string') return one
  if (typeof one !== 'object' || one === null) return undefined
  const text = (one as XmlElement)['#text']
  return typeof text === 'string' ? text : ''
}

export function requireText(element: XmlElement, name: string, what: string): string {
  const text = textOf(element, name)
  if (text === undefined || text === '') throw new FactsError(`${what}: no <${name}>`)
  return text
}

export function requireCount(element: XmlElement, name: string, what: string): number {
  const text = requireText(element, name, what)
  if (!/^\d{1,9}$/.test(text)) throw new FactsError(`${what}: <${name}> is ${text}, not a count`)
  return Number(text)
}
