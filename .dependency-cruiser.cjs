// The arrows of ARCHITECTURE.md. Deciding folders may import only what is listed for them, and
// none of them anything from Node: a socket or a clock in there would end determinism.
const only = (folder, allowed) => ({
  name: `${folder}-arrows`,
  severity: 'error',
  from: { path: `^${folder}/`, pathNot: '\\.test\\.ts$' },
  to: { path: '^(src|sim|bench|test)/', pathNot: `^(${[folder, ...allowed].join('|')})(/|\\.ts$)` }
})

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-node-in-deciding-code',
      severity: 'error',
      from: { path: '^(src/(core|store|commands|wire|node)|sim)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer'] }
    },
    {
      name: 'no-tests-in-code',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|^test/' },
      to: { path: '\\.test\\.ts$|^test/' }
    },
    only('src/core', []),
    only('src/store', ['src/core']),
    only('src/commands', ['src/store', 'src/core', 'src/wire', 'src/errors']),
    only('src/wire', ['src/core', 'src/errors']),
    only('src/config', ['src/core', 'src/errors']),
    only('src/node', ['src/commands', 'src/store', 'src/wire', 'src/core', 'src/errors']),
    only('src/runtime', [
      'src/node',
      'src/commands',
      'src/store',
      'src/wire',
      'src/core',
      'src/config',
      'src/errors'
    ]),
    only('src/server', [
      'src/runtime',
      'src/node',
      'src/wire',
      'src/core',
      'src/config',
      'src/errors'
    ]),
    only('src/client', ['src/wire', 'src/core', 'src/errors']),
    only('src/elastic', ['src/client', 'src/core', 'src/config', 'src/errors']),
    only('sim', ['src/node', 'src/commands', 'src/store', 'src/wire', 'src/core', 'src/errors'])
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' }
  }
}
