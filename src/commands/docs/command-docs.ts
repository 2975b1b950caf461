/**
 * What each command is for, as COMMAND DOCS tells it. The texts are ours. They lie in one table a group, as text of two
 * lines a command, or three where there is something better by now:
 *
 *     name[|part] syntax
 *       since complexity summary
 *       rather version what
 *
 * `since` is the version of Redis that had it first. Hardly anybody asks for this, and those who do ask once a session:
 * so it is text until somebody asks, and a table from then on.
 */
import { assert } from '../../core/assert.js'
import { BITMAP_DOCS } from './bitmap.js'
import { CLUSTER_DOCS } from './cluster.js'
import { CONNECTION_DOCS } from './connection.js'
import { GENERIC_DOCS } from './generic.js'
import { GEO_DOCS } from './geo.js'
import { HASH_DOCS } from './hash.js'
import { HYPERLOGLOG_DOCS } from './hyperloglog.js'
import { LIST_DOCS } from './list.js'
import { PUBSUB_DOCS } from './pubsub.js'
import { SCRIPTING_DOCS } from './scripting.js'
import { SERVER_DOCS } from './server.js'
import { SET_DOCS } from './set.js'
import { SORTED_SET_DOCS } from './sorted-set.js'
import { STRING_DOCS } from './string.js'
import { parseSyntax, type SyntaxArgument } from './syntax.js'
import { TRANSACTION_DOCS } from './transaction.js'

/** By the names that Redis has for them: clients list commands by group. */
const GROUPS: Readonly<Record<string, string>> = {
  bitmap: BITMAP_DOCS,
  cluster: CLUSTER_DOCS,
  connection: CONNECTION_DOCS,
  generic: GENERIC_DOCS,
  geo: GEO_DOCS,
  hash: HASH_DOCS,
  hyperloglog: HYPERLOGLOG_DOCS,
  list: LIST_DOCS,
  pubsub: PUBSUB_DOCS,
  scripting: SCRIPTING_DOCS,
  server: SERVER_DOCS,
  set: SET_DOCS,
  'sorted-set': SORTED_SET_DOCS,
  string: STRING_DOCS,
  transactions: TRANSACTION_DOCS
}

const HEAD = /^(\S+) ?(.*)$/
const BODY = /^ {2}(\d\S*) (\S+) (\S.*)$/
const RATHER = /^ {2}rather (\S+) (\S.*)$/

function match(pattern: RegExp, line: string): [string, string, string] {
  const found = pattern.exec(line)
  assert(found !== null, `a line of the docs is not one: ${line}`)
  const [, first, second, third = ''] = found
  return [first, second, third]
}

export class CommandDoc {
  readonly name: string
  readonly group: string
  readonly since: string
  readonly complexity: string
  readonly summary: string
  /** What to use instead, and from which version of Redis on. */
  readonly rather?: { readonly since: string; readonly what: string }
  readonly #syntax: string
  #arguments: readonly SyntaxArgument[] | undefined

  constructor(group: string, lines: readonly string[]) {
    const [head, body = ''] = lines
    const last = lines.at(2)
    this.group = group
    ;[this.name, this.#syntax] = match(HEAD, head)
    ;[this.since, this.complexity, this.summary] = match(BODY, body)
    if (last === undefined) return
    const [since, what] = match(RATHER, last)
    this.rather = { since, what }
  }

  get arguments(): readonly SyntaxArgument[] {
    return (this.#arguments ??= parseSyntax(this.#syntax))
  }
}

function readGroup(group: string, text: string, docs: Map<string, CommandDoc>): void {
  for (const entry of text.trim().split(/\n(?! )/)) {
    const doc = new CommandDoc(group, entry.split('\n'))
    assert(!docs.has(doc.name), `${doc.name} is described twice`)
    docs.set(doc.name, doc)
  }
}

let table: ReadonlyMap<string, CommandDoc> | undefined

/** By name, parts as `config|get`. */
export function commandDocs(): ReadonlyMap<string, CommandDoc> {
  if (table !== undefined) return table
  const docs = new Map<string, CommandDoc>()
  for (const [group, text] of Object.entries(GROUPS)) readGroup(group, text, docs)
  return (table = docs)
}
