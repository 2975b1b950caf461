/**
 * Reads the XML of Grid Engine's commands. The parser itself forgives almost anything, and half an answer would look
 * like an empty queue; so the text is checked to be whole first, and everything read from it goes through functions
 * that refuse what is not there. Entities are decoded here: only the five of XML, never ones the text defines.
 */
import { XMLParser } from 'fast-xml-parser'
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

/** Large parts that nobody reads: they are passed over, which halves the time. */
const IGNORED = [
  'JB_env_list',
  'JB_ja_tasks',
  'JB_mail_list',
  'JB_stdout_path_list',
  'JB_stderr_path_list',
  'JB_job_args',
  'JB_binding'
]

/** Small parts of every job that nobody reads: without them a long queue is parsed in two thirds of the time. */
const UNREAD = /<(binding|qtype|slots_resv|load_avg|JB_name)>[^<]*<\/\1>/g

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  processEntities: false,
  jPath: false,
  isArray: (name) => REPEATED.has(name),
  stopNodes: IGNORED.map((name) => `*.${name}`)
})

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&'
}

/** The content of the root element, which must be the one expected. */
export function parseXml(text: string, what: string, root: string): XmlElement {
  if (text.trim() === '') throw new FactsError(`${what}: an empty answer`)
  // Nothing that Grid Engine prints has one, and what it could define is not wanted.
  if (text.includes('<!DOCTYPE')) throw new FactsError(`${what}: a document type in the answer`)
  checkWhole(text, what)
  const document = parser.parse(text.replace(UNREAD, '')) as Record<string, unknown>
  const names = Object.keys(document)
  if (names.length !== 1 || names[0] !== root) {
    throw new FactsError(`${what}: <${root}> expected, not <${names.join('>, <')}>`)
  }
  return toElement(document[root])
}

const TAG = /<(\/?)([A-Za-z_][\w.:-]*)([^<>]*)>/g

/** Every element is closed, in the right order, and something was there at all. */
function checkWhole(text: string, what: string): void {
  const open: string[] = []
  let count = 0
  for (const [, slash, name, rest] of text.matchAll(TAG)) {
    count++
    if (rest.endsWith('/')) continue
    if (slash === '') open.push(name)
    else {
      const expected = open.pop()
      if (expected !== name) {
        throw new FactsError(
          `${what}: not whole XML: </${name}> where ${expected ?? 'nothing'} is open`
        )
      }
    }
  }
  const last = open.at(-1)
  if (last !== undefined) throw new FactsError(`${what}: not whole XML: <${last}> is never closed`)
  if (count === 0 || !text.trimEnd().endsWith('>')) {
    throw new FactsError(`${what}: not whole XML: it is cut short`)
  }
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
  if (typeof one === 'string') return decode(one)
  if (typeof one !== 'object' || one === null) return undefined
  const text = (one as XmlElement)['#text']
  return typeof text === 'string' ? decode(text) : ''
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

function decode(text: string): string {
  return text.includes('&')
    ? text.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    : text
}
