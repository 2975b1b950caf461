/** COMMAND DOCS: what commands are for, for people at a prompt. redis-cli makes its hints of it. */
import type { CommandSpec } from '../../commands/command-specs.js'
import { commandDocs, type CommandDoc } from '../../commands/docs/command-docs.js'
import type { SyntaxArgument } from '../../commands/docs/syntax.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import { partsOf } from './container.js'

function writeText(reply: ReplyWriter, field: string, text: string): void {
  reply.bulkString(field)
  reply.bulkString(text)
}

function writeFlags(reply: ReplyWriter, field: string, flags: readonly string[]): void {
  reply.bulkString(field)
  reply.set(flags.length)
  for (const flag of flags) reply.simple(flag)
}

function writeArguments(reply: ReplyWriter, items: readonly SyntaxArgument[]): void {
  reply.bulkString('arguments')
  reply.array(items.length)
  for (const { name, type, token, flags, parts } of items) {
    const more = [token !== undefined, flags.length > 0, parts.length > 0]
    reply.map(2 + more.filter(Boolean).length)
    writeText(reply, 'name', name)
    writeText(reply, 'type', type)
    if (token !== undefined) writeText(reply, 'token', token)
    if (flags.length > 0) writeFlags(reply, 'flags', flags)
    if (parts.length > 0) writeArguments(reply, parts)
  }
}

/** In the order of Redis; what there is nothing to say about is left out. */
function writeDoc(reply: ReplyWriter, doc: CommandDoc): void {
  const subcommands = describe(partsOf(doc.name))
  const { rather, arguments: items } = doc
  const deprecation = rather === undefined ? 0 : 3
  reply.map(4 + deprecation + Math.min(items.length, 1) + Math.min(subcommands.length, 1))
  writeText(reply, 'summary', doc.summary)
  writeText(reply, 'since', doc.since)
  writeText(reply, 'group', doc.group)
  writeText(reply, 'complexity', doc.complexity)
  if (rather !== undefined) {
    writeFlags(reply, 'doc_flags', ['deprecated'])
    writeText(reply, 'deprecated_since', rather.since)
    writeText(reply, 'replaced_by', rather.what)
  }
  if (items.length > 0) writeArguments(reply, items)
  if (subcommands.length > 0) {
    reply.bulkString('subcommands')
    writeAll(reply, subcommands)
  }
}

function describe(commands: readonly Pick<CommandSpec, 'name'>[]): CommandDoc[] {
  const docs = commandDocs()
  return commands.flatMap(({ name }) => docs.get(name) ?? [])
}

function writeAll(reply: ReplyWriter, docs: readonly CommandDoc[]): void {
  reply.map(docs.length)
  for (const doc of docs) {
    reply.bulkString(doc.name)
    writeDoc(reply, doc)
  }
}

export function writeDocs(reply: ReplyWriter, specs: readonly CommandSpec[]): void {
  writeAll(reply, describe(specs))
}
