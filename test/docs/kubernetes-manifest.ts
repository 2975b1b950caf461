/**
 * Objects for Kubernetes held to its own schemas, as the package kubernetes-models has them: its types find fields that
 * there are not, which a server would drop without a word, its validators everything else. There is no server here to ask.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { parseAllDocuments } from 'yaml'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
}

type Model = new (data: unknown) => { validate(): void }

const require = createRequire(import.meta.url)
const PACKAGE = 'kubernetes-models'
/** Those of the library, which are many and do not change. */
const parsed = new Map<string, ts.SourceFile>()

/** All that is wrong, as sentences. */
export function findManifestProblems(text: string): string[] {
  const problems: string[] = []
  const manifests: Manifest[] = []
  for (const document of parseAllDocuments(text)) {
    problems.push(...document.errors.map(({ message }) => message))
    const manifest = document.toJS() as Manifest | null
    if (manifest !== null) manifests.push(manifest)
  }
  for (const manifest of manifests) {
    const problem = validate(manifest)
    if (problem !== undefined) problems.push(problem)
  }
  return problems.length > 0 ? problems : findStrangeFields(manifests)
}

function validate(manifest: Manifest): string | undefined {
  const { apiVersion, kind } = manifest
  try {
    const models = require(`${PACKAGE}/${apiVersion}/${kind}`) as Record<string, Model>
    new models[kind](manifest).validate()
    return undefined
  } catch (error) {
    return `${kind}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`
  }
}

/** The compiler refuses what an object literal has beyond its type. */
function findStrangeFields(manifests: readonly Manifest[]): string[] {
  const path = join(import.meta.dirname, 'manifests-in-memory.ts')
  const source = manifests
    .map((manifest, index) => {
      const { apiVersion, kind } = manifest
      const type = `import('${PACKAGE}/${apiVersion}/${kind}').I${kind}`
      return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)}`
    })
    .join('\n')
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    lib: ['lib.es2022.d.ts'],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    moduleResolution: ts.ModuleResolutionKind.Bundler
  }
  const host = ts.createCompilerHost(options)
  host.readFile = (file) => (file === path ? source : ts.sys.readFile(file))
  host.fileExists = (file) => file === path || ts.sys.fileExists(file)
  host.getSourceFile = (file, version) => {
    const known = parsed.get(file)
    if (known !== undefined) return known
    const content = host.readFile(file)
    if (content === undefined) return undefined
    const made = ts.createSourceFile(file, content, version)
    if (file !== path) parsed.set(file, made)
    return made
  }
  host.getCurrentDirectory = () => dirname(path)
  const program = ts.createProgram([path], options, host)
  const file = program.getSourceFile(path)
  return ts
    .getPreEmitDiagnostics(program, file)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
