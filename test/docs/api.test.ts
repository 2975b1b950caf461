// Whatever the package exports says what it is: `npm run docs:api` would otherwise have pages with nothing on them.
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

function findUndocumented(): { exported: number; bare: string[] } {
  const options = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.build.json'), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    root
  ).options
  const program = ts.createProgram([join(root, 'src', 'index.ts')], options)
  const checker = program.getTypeChecker()
  const door = program.getSourceFile(join(root, 'src', 'index.ts'))
  const module = door === undefined ? undefined : checker.getSymbolAtLocation(door)
  const exported = module === undefined ? [] : checker.getExportsOfModule(module)
  const bare = exported.flatMap((symbol) => {
    const own =
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
    const isBare = (one: ts.Symbol): boolean => one.getDocumentationComment(checker).length === 0
    const methods = [...(own.members?.values() ?? [])].filter(
      (member) =>
        (member.flags & ts.SymbolFlags.Method) !== 0 &&
        !/^(?:__|#)/.test(member.name) &&
        member.declarations?.every(
          (one) => (ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Private) === 0
        ) === true &&
        isBare(member)
    )
    return [
      ...(isBare(own) ? [symbol.name] : []),
      ...methods.map(({ name }) => `${symbol.name}.${name}`)
    ]
  })
  return { exported: exported.length, bare }
}

test('every export of the package has a comment, and every method of it', () => {
  const { exported, bare } = findUndocumented()
  expect(exported).toBeGreaterThan(30)
  expect(bare).toEqual([])
})
