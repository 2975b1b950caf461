// Bundles the dashboard into dist/web: one script, one style sheet, the page and its icon, each also compressed, and a
// list of them for the node that serves them. Fails when a browser would have to fetch more than it should.
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const COMPRESSED_BYTES_MAX = 150 * 1024
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const target = join(root, 'dist', 'web')

const { outputFiles } = await build({
  entryPoints: [join(root, 'web', 'src', 'main.tsx')],
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  outfile: join(target, 'app.js'),
  legalComments: 'none',
  write: false,
  logLevel: 'warning'
})
const bundled = (ending) =>
  Buffer.from(outputFiles.find(({ path }) => path.endsWith(ending)).contents)
const digest = (bytes) => createHash('sha256').update(bytes).digest('base64url').slice(0, 12)
const [script, style] = [bundled('.js'), bundled('.css')]
const [scriptName, styleName] = [`app-${digest(script)}.js`, `app-${digest(style)}.css`]
const page = readFileSync(join(root, 'web', 'index.html'), 'utf8')
  .replace('/app.js', `/${scriptName}`)
  .replace('/app.css', `/${styleName}`)

const files = [
  { path: '/', name: 'index.html', type: 'text/html; charset=utf-8', bytes: Buffer.from(page) },
  {
    path: `/${scriptName}`,
    name: scriptName,
    type: 'text/javascript; charset=utf-8',
    bytes: script
  },
  { path: `/${styleName}`, name: styleName, type: 'text/css; charset=utf-8', bytes: style },
  {
    path: '/icon.svg',
    name: 'icon.svg',
    type: 'image/svg+xml',
    bytes: readFileSync(join(root, 'web', 'icon.svg'))
  }
]

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
let compressed = 0
for (const { name, bytes } of files) {
  const gzip = gzipSync(bytes, { level: 9 })
  compressed += gzip.length
  writeFileSync(join(target, name), bytes)
  writeFileSync(join(target, `${name}.gz`), gzip)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(join(target, `${name}.br`), brotliCompressSync(bytes, { params }))
}
const manifest = files.map(({ path, type, bytes }) => {
  return { path, type, etag: `"${digest(bytes)}"`, fixed: path.startsWith('/app-') }
})
writeFileSync(join(target, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
if (compressed > COMPRESSED_BYTES_MAX) {
  process.stderr.write(
    `build-web: ${compressed} bytes compressed, ${COMPRESSED_BYTES_MAX} are allowed\n`
  )
  process.exit(1)
}
