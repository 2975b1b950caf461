// What the dashboard shows besides a small cluster of buckets: the elastic balancer, a ring, and a cluster of 64 nodes with
// 4096 buckets.
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { Processes, until, type NodeProcess } from '../integration/process.js'
import { hasBrowser, photograph, TestBrowser } from './browser.js'
import { LargeFeed } from './large-feed.js'

const PATIENT = ['--heartbeat-ms', '200', '--dead-after-ms', '2500', '--log-level', 'warn']
const SLOW = { timeout: 60_000 }

const processes = new Processes()
const browser = new TestBrowser()
let feed: LargeFeed | undefined
afterEach(async () => {
  feed?.close()
  feed = undefined
  await browser.close()
  await processes.end()
})

const says = (page: Page, selector: string, text: RegExp): Promise<unknown> =>
  page.waitForFunction(
    ([where, pattern]) =>
      new RegExp(pattern).test(document.querySelector(where)?.textContent ?? ''),
    [selector, text.source] as const,
    SLOW
  )

/** What can be used and has no name that could be read out. */
function namelessIn(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('button, input, [tabindex], dialog, section, svg, canvas')]
      .filter((one) => !one.closest('[aria-hidden=true], .u-wrap, [role=img]'))
      .filter((one) => {
        const labelled = one.getAttribute('aria-label') ?? one.closest('label')?.textContent
        const text = one.tagName === 'BUTTON' ? one.textContent : ''
        return (labelled ?? '') === '' && text.trim() === ''
      })
      .map((one) => one.outerHTML.slice(0, 120))
  )
}

/** As `opencluster loadbalance --dashboard` sends it. */
function reportOf(at: number): object {
  const waiting = { id: '<i>57</i>', state: 'queued', slots: 1, tasks: 12, reason: null }
  const host = { role: 'worker', phase: 'serving', reason: null, launchedAt: at, idleSince: null }
  return {
    cluster: 'mine',
    source: 'sge',
    provider: 'command',
    dryRun: true,
    at,
    intervalMs: 60_000,
    problem: null,
    failedPasses: 0,
    summary: 'add 1 host: 12 tasks lack room',
    limits: { hostsMin: 1, hostsMax: 10 },
    statistics: {
      hosts: 2,
      hostsUsable: 2,
      hostsUnready: 0,
      booting: 1,
      slots: 8,
      slotsFree: 0,
      running: 8,
      queued: 12,
      queuedHelpable: 12,
      queuedSlots: 12,
      oldestWaitMs: 960_000,
      durationMeanMs: 1,
      waitMeanMs: 1,
      needed: 2
    },
    cost: { perHour: 0, total: 0 },
    actions: [{ kind: 'add', count: 1, rule: 'room-missing', reason: '12 tasks lack room' }],
    verdicts: [
      {
        rule: 'longest-wait',
        phase: 'add',
        answer: 'allow',
        sentence: 'the oldest has waited 16 min',
        facts: { oldest: '16 min' }
      },
      { rule: 'hosts-max', phase: 'add', answer: 'deny', sentence: 'ten are the most', facts: {} }
    ],
    hopeless: [],
    hopelessCount: 0,
    hosts: [
      { ...host, name: 'node001', state: 'ready', slots: 8, used: 7, step: null, failure: null },
      {
        ...host,
        name: 'node002',
        state: 'booting',
        slots: 0,
        used: 0,
        step: 'launch 1/9',
        failure: 'no answer'
      }
    ].map((one) => ({ ...one, pricePerHour: null })),
    hostsCount: 2,
    jobs: [{ ...waiting, submittedAt: at - 960_000 }],
    jobsCount: 1
  }
}

async function sendReport({ http }: NodeProcess, at: number): Promise<number> {
  const session = await fetch(`http://${http}/api/session`)
  const { token } = (await session.json()) as { token: string }
  const headers = { 'content-type': 'application/json', 'x-opencluster-token': token }
  const body = JSON.stringify(reportOf(at))
  return (await fetch(`http://${http}/api/elastic/mine`, { method: 'POST', headers, body })).status
}

describe.skipIf(!hasBrowser)('the dashboard', () => {
  test('shows the elastic balancer that told another node', async () => {
    const a = await processes.start('a', ...PATIENT)
    const b = await processes.start('b', ...PATIENT, '--join', a.address)
    const page = await browser.open(a.http)
    await says(page, '.verdict', /^Balanced$/)
    expect(await page.locator('.elastic').count()).toBe(0)
    expect(await sendReport(b, Date.now() - 60_000)).toBe(204)
    expect(await sendReport(b, Date.now())).toBe(204)
    await page.waitForSelector('.elastic', SLOW)
    await says(page, '.elastic', /mine.*sge → command.*dry run.*add 1 host: 12 tasks lack room/)
    await says(page, '.elastic .figures', /waiting12oldest waits16 min/)
    await says(
      page,
      '.parts .rules',
      /longest-wait\s*add\s*yes:\s*the oldest.*hosts-max\s*add\s*no:\s*ten/
    )
    await says(page, '.parts .hosts', /node001.*7\/8.*node002.*launch 1\/9.*no answer/)
    // What comes from outside is text.
    await says(page, '.parts .jobs', /<i>57<\/i>queued12 × 1 slot16 min/)
    // The page may have asked between the two reports; of one there is no line to draw.
    await page.waitForSelector('.elastic polyline >> nth=2', { ...SLOW, state: 'attached' })
    expect(await page.locator('.elastic polyline').count()).toBe(3)
    await page.locator('.elastic').scrollIntoViewIfNeeded()
    await photograph(page, 'elastic')
    expect(browser.complaints).toEqual([])
  })

  test('shows a ring, lets a node of it go, and goes on from another when its own dies', async () => {
    const start = (name: string, ...more: string[]): ReturnType<Processes['start']> =>
      processes.start(
        name,
        '--placement',
        'ring',
        '--http-port',
        '0',
        '--log-level',
        'warn',
        ...more
      )
    const a = await start('a')
    const b = await start('b', '--join', a.address)
    const page = await browser.open(a.http)
    const hasArcs = (count: number): Promise<unknown> =>
      page.waitForFunction(
        (wanted) => document.querySelectorAll('.circle .arc').length === wanted,
        count,
        SLOW
      )
    await says(page, '.verdict', /^At rest$/)
    await says(page, '.circle table', /a.*%.*b.*%/)
    await hasArcs(8)
    await start('c', '--join', b.address)
    await hasArcs(12)
    await says(page, '.verdict', /^At rest$/)
    await says(page, '.timeline', /c joined/)
    // Which arc lies at the top depends on the ports; the middle of an arc's box need not lie on it.
    await page.locator('.circle svg').scrollIntoViewIfNeeded()
    const box = (await page.locator('.circle svg').boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.06)
    await says(page, '.inspector', /% of the circle[abc], then [abc]/)
    // What b answers is plotted by a.
    expect(await page.locator('.plot').count()).toBe(6)
    const put = async (key: number): Promise<Response> =>
      fetch(`http://${b.http}/v0/entity?id=k${key}`, { method: 'PUT', body: 'v' })
    for (let key = 0; key < 200; key++) expect((await put(key)).status).toBe(201)
    await page.waitForSelector('.plot[aria-label^="Operations: "]:not([aria-label$=": 0"])', SLOW)
    await says(page, '.circle tr[data-node=a] td:nth-of-type(2)', /^[1-9]/)
    await page.fill('.lookup input', 'k7')
    await page.press('.lookup input', 'Enter')
    await says(page, '.result', /-?\d+[abc][abc]value/)
    expect(await page.textContent('.result pre')).toBe('v')
    expect(await page.locator('.arc.found').count()).toBe(1)
    await page.fill('.lookup input', 'nothing')
    await page.press('.lookup input', 'Enter')
    await says(page, '.result', /no such key/)
    expect(await sendReport(b, Date.now())).toBe(204)
    await says(page, '.elastic', /mine.*sge → command.*add 1 host: 12 tasks lack room/)
    await photograph(page, 'ring')
    await page.click('.circle [data-node=c] .node-name')
    await says(page, 'dialog[open]', /c.*alive.*HTTP/)
    await page.click('dialog[open] button:has-text("Drain…")')
    await says(page, '.confirm', /The records of c go to the other nodes/)
    await page.click('.confirm .danger')
    await hasArcs(8)
    await says(page, '.timeline', /c left/)
    await says(page, '.verdict', /^At rest$/)
    await a.kill()
    await says(page, '.source', /seen by b at/)
    await says(page, '.verdict', /a dead|without/)
    await page.click('.circle [data-node=a] .node-name')
    await page.click('dialog[open] button:has-text("Forget…")')
    await page.click('.confirm .danger')
    await hasArcs(4)
    expect(browser.complaints).toEqual([])
  })

  test('shows a ring on a phone and by keyboard', async () => {
    const ring = ['--placement', 'ring', '--http-port', '0', '--log-level', 'warn']
    const a = await processes.start('a', ...ring)
    await processes.start('b', ...ring, '--join', a.address)
    const page = await browser.open(a.http, { width: 390, height: 844, theme: 'dark' })
    await says(page, '.circle table', /a.*%.*b.*%/)
    await says(page, '.verdict', /^At rest$/)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    await page.focus('.circle svg')
    const first = await page.textContent('.inspector')
    expect(first).toMatch(/% of the circle[ab], then [ab]/)
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction(
      (before) => document.querySelector('.inspector')?.textContent !== before,
      first,
      SLOW
    )
    await page.keyboard.press('ArrowLeft')
    await page.waitForFunction(
      (before) => document.querySelector('.inspector')?.textContent === before,
      first,
      SLOW
    )
    expect(await namelessIn(page)).toEqual([])
    await photograph(page, 'ring-phone')
    await page.focus('.circle [data-node=b] .node-name')
    await page.keyboard.press('Enter')
    await says(page, 'dialog[open]', /b.*alive.*HTTP/)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'hidden' })
    expect(browser.complaints).toEqual([])
  })

  test('stays readable and quick with 64 nodes and 4096 buckets', async () => {
    feed = await new LargeFeed(64, 4096).open()
    const page = await browser.open(feed.http, { width: 1600, height: 1000, theme: 'dark' })
    await page.waitForFunction(() => document.querySelectorAll('.column').length === 64, SLOW)
    const sizes = await page.evaluate(() => ({
      page: document.documentElement.scrollWidth,
      cell: document.querySelector('.cells')!.getBoundingClientRect().width
    }))
    expect(sizes.page).toBeLessThanOrEqual(1600)
    // At least a pixel a bucket, or there is nothing to be seen.
    expect(sizes.cell).toBeGreaterThanOrEqual(64)
    await page.focus('[data-node="node-00"] .cells')
    await page.keyboard.press('ArrowDown')
    await says(page, '.inspector', /^#040primary node-/)
    // Pictures come four times a second; the page must have time left between them.
    const frames = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const start = performance.now()
          let count = 0
          const next = (): void => {
            count++
            if (performance.now() - start > 3000) resolve(count)
            else requestAnimationFrame(next)
          }
          requestAnimationFrame(next)
        })
    )
    expect(frames).toBeGreaterThan(15)
    await photograph(page, 'large')
    expect(browser.complaints).toEqual([])
  })

  test('is usable without a pointer: everything has a name and can be reached', async () => {
    const a = await processes.start('a', ...PATIENT)
    const b = await processes.start('b', ...PATIENT, '--join', a.address)
    const page = await browser.open(b.http)
    await says(page, '.verdict', /^Balanced$/)
    expect(await namelessIn(page)).toEqual([])
    // From the name of a node into its dialog and out again.
    await page.focus('[data-node="a"] .node-name')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open]')
    await says(page, 'dialog[open]', /a.*alive.*clients/)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'hidden' })
    // The first stop of the tab key leads past the head of the page.
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.keyboard.press('Tab')
    await until('the tab key goes somewhere', () =>
      page.evaluate(() => document.activeElement !== document.body)
    )
    expect(await page.getAttribute('html', 'lang')).toBe('en')
    expect(browser.complaints).toEqual([])
  })
})
