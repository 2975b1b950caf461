/**
 * `opencluster bench`: ours beside real peers in one run. The table grows row by row on stderr, so that a long run can be
 * watched, and stands aligned on stdout at the end.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  findRegressions,
  formatReport,
  readLast,
  recordReport,
  renewReport
} from '../../bench/compare/history.js'
import { writePage } from '../../bench/compare/page.js'
import { formatTable, isLoaded, type Report } from '../../bench/compare/report.js'
import { GROUPS, PEERS, runBench, type PeerName } from '../../bench/compare/run.js'
import { optionalText } from '../config/option.js'
import { defineVerb, EXIT, type Output } from './command.js'
import { flag, list, optionalInteger } from './options.js'

/** From dist/src/cli. */
const HISTORY = fileURLToPath(new URL('../../../bench/history', import.meta.url))
const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url))
const ROUNDS_MAX = 100
const EXIT_INTERRUPTED = 130

const program = (name: PeerName): ReturnType<typeof optionalText> =>
  optionalText(`a program to compare with, beside those of --against: ${name}`, {
    placeholder: 'PATH'
  })

export const bench = defineVerb({
  name: 'bench',
  summary: 'side by side with real peers in one run',
  description: [
    'Starts nodes and the servers of the peers on free ports of this machine, loads them by turns, and prints the medians',
    'and their ratio. The processor time an operation is what to compare where the generator is the limit. A peer',
    `that dies ends its row and not the run. Groups of rows: ${GROUPS.join(', ')}.`
  ].join('\n'),
  example: 'opencluster bench --against redis --quick --json out.json',
  options: {
    against: list<PeerName>({
      help: 'the peers, found on the path; redis if not given',
      placeholder: 'NAME,…',
      wanted: `each must be ${PEERS.join(', ')}`,
      lengthMax: PEERS.length,
      read: (text) => PEERS.find((name) => name === text)
    }),
    redis: program('redis'),
    valkey: program('valkey'),
    keydb: program('keydb'),
    memcached: program('memcached'),
    quick: flag('a few minutes: fewer keys, shorter and fewer rounds'),
    rounds: optionalInteger('rounds a row', { min: 1, max: ROUNDS_MAX }),
    only: list({
      help: 'groups, or parts of names of rows',
      placeholder: 'TEXT,…',
      wanted: 'each must be some text',
      lengthMax: 100,
      read: (text) => (text === '' ? undefined : text)
    }),
    json: optionalText('write the rows and what they were measured on to a file', {
      placeholder: 'FILE'
    }),
    record: flag('keep the run in bench/history'),
    renew: flag('put the rows into the last recorded run of this length, and keep that'),
    page: flag('write the table and its pictures into docs/performance.md'),
    check: flag('compare with the last recorded run of the same length; 1 if a ratio got worse')
  },
  run: async (values, output) => {
    const aborted = new AbortController()
    const onSignal = (): void => aborted.abort()
    process.once('SIGINT', onSignal)
    process.once('SIGTERM', onSignal)
    const named = PEERS.filter((name) => values[name] !== undefined)
    const { redis, valkey, keydb, memcached } = values
    const given = Object.entries({ redis, valkey, keydb, memcached })
    try {
      const report = await runBench({
        quick: values.quick === true,
        rounds: values.rounds,
        against: [...new Set([...(values.against ?? (['redis'] as const)), ...named])],
        paths: Object.fromEntries(given.filter(([, path]) => path !== undefined)),
        only: values.only ?? [],
        onRow: (row) => output.stderr.write(`${formatTable([row])[1]}\n`),
        onNotice: (text) => output.stderr.write(`bench: ${text}\n`),
        signal: aborted.signal
      })
      if (aborted.signal.aborted) return EXIT_INTERRUPTED
      return finish(report, values, output)
    } finally {
      process.removeListener('SIGINT', onSignal)
      process.removeListener('SIGTERM', onSignal)
    }
  }
})

interface Wishes {
  readonly json: string | undefined
  readonly record: boolean | undefined
  readonly renew: boolean | undefined
  readonly check: boolean | undefined
  readonly page: boolean | undefined
}

function finish(report: Report, wishes: Wishes, output: Output): number {
  const { json, record, renew, check, page } = wishes
  const { machine, peers, commit, date } = report
  const loaded = isLoaded(machine) ? '; measured on a loaded machine' : ''
  const place = `${machine.processors} × ${machine.processor}, Node ${machine.node}, load ${machine.loadBefore}${loaded}`
  output.stdout.write(`${date} ${commit} against ${peers.join(', ') || 'nobody'}\n${place}\n\n`)
  output.stdout.write(`${formatTable(report.rows).join('\n')}\n`)
  if (json !== undefined) writeFileSync(json, formatReport(report))
  let code: number = EXIT.success
  const last = check === true || renew === true ? readLast(HISTORY, report.quick) : undefined
  if (last === undefined && (check === true || renew === true)) {
    output.stderr.write('bench: no recorded run of this length; --record makes one\n')
    return EXIT.failure
  }
  if (check === true && last !== undefined) {
    const found = findRegressions(last, report)
    for (const { row, what, before, now, allowed } of found) {
      const change = `${before.toFixed(2)} to ${now.toFixed(2)}`
      const limit = `${Math.round(allowed * 100)} %`
      output.stdout.write(`worse: ${row}: ${what} ${change}, beyond ${limit} of noise\n`)
    }
    output.stdout.write(`${found.length} worse than ${last.date} ${last.commit}\n`)
    if (found.length > 0) code = EXIT.failure
  }
  // After the comparison, which would otherwise be with itself.
  const kept = renew === true && last !== undefined ? renewReport(last, report) : report
  if (record === true || renew === true) {
    output.stdout.write(`recorded as ${recordReport(HISTORY, kept)}\n`)
  }
  if (page === true) output.stdout.write(`written: ${writePage(DOCS, kept).join(', ')}\n`)
  return code
}
