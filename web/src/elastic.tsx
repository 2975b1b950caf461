/** The elastic balancers: what waits, which hosts there are, and what each rule said last. Nothing where none runs. */
import type {
  PublishedReport,
  ReportedHost,
  ReportPoint
} from '../../src/core/scaling/balancer-report.js'
import { balancers } from './elastic-source.js'
import { formatSpan, formatTime, plural } from './format.js'

const HOSTS_SHOWN = 24
const JOBS_SHOWN = 12

export function Elastic() {
  return (
    <>
      {balancers.value.map((report) => (
        <Balancer key={report.cluster} report={report} />
      ))}
    </>
  )
}

function Balancer({ report }: { report: PublishedReport }) {
  const { cluster, source, provider, dryRun, stale, problem, summary, actions } = report
  const statistics = report.statistics
  return (
    <section
      class={`panel elastic${stale ? ' stale' : ''}`}
      aria-label={`Elastic balancer of ${cluster}`}
    >
      <header>
        <h2>Elastic balancer</h2>
        <b>{cluster}</b>
        <span class="weak">
          {source} → {provider}
        </span>
        {dryRun && <em class="state">dry run</em>}
        {stale && <em class="state leaving">silent since {formatTime(report.receivedAt)}</em>}
        <time>{formatTime(report.at)}</time>
      </header>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
          {report.failedPasses > 1 && ` (${report.failedPasses} times)`}
        </p>
      )}
      <p class="summary" aria-live="polite">
        {summary}
      </p>
      {statistics !== null && (
        <dl class="figures">
          <Figure name="waiting" value={String(statistics.queued)} />
          <Figure name="oldest waits" value={formatSpan(statistics.oldestWaitMs)} />
          <Figure name="running" value={String(statistics.running)} />
          <Figure name="slots free" value={`${statistics.slotsFree} of ${statistics.slots}`} />
          <Figure
            name="hosts"
            value={`${statistics.hosts} of ${report.limits.hostsMin}–${report.limits.hostsMax}`}
          />
          <Figure name="booting" value={String(statistics.booting)} />
          <Figure name="missing" value={String(statistics.needed)} />
          {report.cost.total > 0 && (
            <Figure name="an hour" value={report.cost.perHour.toFixed(2)} />
          )}
        </dl>
      )}
      <History points={report.history} />
      <div class="parts">
        <Rules report={report} />
        <Hosts hosts={report.hosts} count={report.hostsCount} />
        <Queue report={report} />
      </div>
      {actions.length > 0 && (
        <ul class="actions" aria-label="Decided in the last pass">
          {actions.map((action, index) => (
            <li key={index}>
              <b>{describe(action)}</b> <small>{action.reason}</small>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function describe({ kind, host, count }: PublishedReport['actions'][number]): string {
  return [kind, host, count === undefined ? '' : plural(count, 'host')].filter(Boolean).join(' ')
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

const MARKS = { allow: '✓', deny: '✗', 'not-applicable': '–' } as const
const WORDS = { allow: 'yes', deny: 'no', 'not-applicable': 'not asked' } as const

function Rules({ report }: { report: PublishedReport }) {
  return (
    <div class="part">
      <h3>Rules</h3>
      {report.verdicts.length === 0 && <p class="idle">No pass yet.</p>}
      <ul class="rules" tabIndex={0} aria-label="The last verdict of each rule">
        {report.verdicts.map(({ rule, phase, answer, sentence, facts }) => (
          <li key={`${phase}/${rule}`} class={answer} title={formatFacts(facts)}>
            <i aria-hidden="true">{MARKS[answer]}</i>
            <p>
              <b>{rule}</b> <em>{phase}</em> <span class="sr-only">{WORDS[answer]}: </span>
              <small>{sentence}</small>
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}

function formatFacts(facts: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function Hosts({ hosts, count }: { hosts: readonly ReportedHost[]; count: number }) {
  const more = count - Math.min(hosts.length, HOSTS_SHOWN)
  return (
    <div class="part">
      <h3>
        Hosts <b>{count}</b>
      </h3>
      {hosts.length === 0 && <p class="idle">None.</p>}
      <ul class="hosts" tabIndex={0} aria-label="Hosts and their slots">
        {hosts.slice(0, HOSTS_SHOWN).map((host) => (
          <Host key={host.name} {...host} />
        ))}
        {more > 0 && <li class="weak">and {more} more</li>}
      </ul>
    </div>
  )
}

function Host({ name, role, state, slots, used, step, failure, reason }: ReportedHost) {
  return (
    <li class={failure === null ? state : 'failed'} title={reason ?? undefined}>
      <b>{name}</b>
      <em>{step ?? (role === 'master' ? `${state}, master` : state)}</em>
      <meter
        min={0}
        max={Math.max(1, slots)}
        value={used}
        aria-label={`${used} of ${slots} slots used`}
      />
      <span>
        {used}/{slots}
      </span>
      {failure !== null && <small class="problem">{failure}</small>}
    </li>
  )
}

function Queue({ report }: { report: PublishedReport }) {
  const { jobs, jobsCount, hopeless, hopelessCount, at } = report
  const more = jobsCount - Math.min(jobs.length, JOBS_SHOWN)
  return (
    <div class="part">
      <h3>
        Queue <b>{jobsCount}</b>
      </h3>
      {jobs.length === 0 && <p class="idle">Nothing waits.</p>}
      <ul class="jobs" tabIndex={0} aria-label="Waiting jobs, the oldest first">
        {jobs.slice(0, JOBS_SHOWN).map(({ id, state, slots, tasks, submittedAt, reason }) => (
          <li key={id} title={reason ?? undefined}>
            <b>{id}</b>
            <em>{state}</em>
            <span>{tasks > 1 ? `${tasks} × ${plural(slots, 'slot')}` : plural(slots, 'slot')}</span>
            <time>{formatSpan(Math.max(0, at - submittedAt))}</time>
          </li>
        ))}
        {more > 0 && <li class="weak">and {more} more</li>}
      </ul>
      {hopelessCount > 0 && (
        <p class="problem">
          {plural(hopelessCount, 'job')} that no new host can help
          {hopeless.length > 0 && `: ${hopeless[0].id}, ${hopeless[0].why}`}
        </p>
      )}
    </div>
  )
}

const WIDTH = 600
const HEIGHT = 56
const LINES = [
  ['queued', ({ queued }: ReportPoint) => queued],
  ['running', ({ running }: ReportPoint) => running],
  ['hosts', ({ hosts }: ReportPoint) => hosts]
] as const

/** The last passes as three lines, each by its own scale. */
function History({ points }: { points: readonly ReportPoint[] }) {
  if (points.length < 2) return null
  const [from, to] = [points[0].at, points[points.length - 1].at]
  return (
    <figure class="history">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={describeHistory(points)}
      >
        {LINES.map(([name, read]) => {
          const most = Math.max(1, ...points.map(read))
          const path = points
            .map((point) => {
              const x = ((point.at - from) / Math.max(1, to - from)) * WIDTH
              const y = HEIGHT - 2 - (read(point) / most) * (HEIGHT - 4)
              return `${x.toFixed(1)},${y.toFixed(1)}`
            })
            .join(' ')
          return <polyline key={name} class={name} points={path} />
        })}
      </svg>
      <figcaption>
        {LINES.map(([name, read]) => (
          <span key={name} class={name}>
            {name} <b>{read(points[points.length - 1])}</b> of at most{' '}
            {Math.max(...points.map(read))}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function describeHistory(points: readonly ReportPoint[]): string {
  return LINES.map(([name, read]) => {
    const values = points.map(read)
    return `${name} between ${Math.min(...values)} and ${Math.max(...values)}`
  }).join(', ')
}
