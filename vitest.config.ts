import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('./', import.meta.url))

// One project a kind of test, so that each can be run by name: `npx vitest run --project unit`.
export default defineConfig({
  test: {
    reporters: ['default'],
    coverage: { provider: 'v8', include: ['src/**/*.ts', 'sim/**/*.ts'] },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'sim/**/*.test.ts',
            'bench/**/*.test.ts',
            'web/**/*.test.ts'
          ],
          testTimeout: 60_000
        }
      },
      {
        test: {
          name: 'transcripts',
          include: ['test/transcripts/**/*.test.ts'],
          testTimeout: 60_000
        }
      },
      {
        // Of what is built, as `opencluster simulate` runs it: transformed for tests it takes several times as long.
        resolve: {
          alias: [
            { find: /^\.\.\/\.\.\/(sim|src)\/(.*)\.js$/, replacement: `${root}dist/$1/$2.js` }
          ]
        },
        test: {
          name: 'sim',
          include: ['test/sim/**/*.test.ts'],
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 300_000
        }
      },
      { test: { name: 'cli', include: ['test/cli/**/*.test.ts'], testTimeout: 120_000 } },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          exclude: ['test/conformance/clients/faults.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000
        }
      },
      {
        // Stock clients while a node is killed and while one joins: minutes of real time (`npm run test:clients`).
        test: {
          name: 'clients',
          include: ['test/conformance/clients/faults.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000
        }
      },
      {
        test: {
          name: 'integration',
          include: [
            'test/integration/**/*.test.ts',
            'test/examples/**/*.test.ts',
            'test/ring/**/*.test.ts',
            'test/bench/**/*.test.ts'
          ],
          // They wait for processes most of the time.
          maxWorkers: 2,
          testTimeout: 120_000,
          hookTimeout: 60_000
        }
      },
      {
        // A real browser on real processes; one file at a time, or they take each other's processor.
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000
        }
      },
      {
        // Real schedulers in network namespaces, from packages of Debian's. They wait most of the time, so all at once.
        test: {
          name: 'elastic',
          include: ['test/elastic/**/*.test.ts'],
          globalSetup: ['test/elastic/install.ts'],
          maxWorkers: 5,
          testTimeout: 240_000,
          hookTimeout: 120_000
        }
      },
      { test: { name: 'docs', include: ['test/docs/**/*.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'package', include: ['test/package/**/*.test.ts'], testTimeout: 180_000 } }
    ]
  }
})
