// The dashboard in a real browser, on real processes: what happens to the cluster can be seen happening.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { Processes, type NodeProcess } from '../integration/process.js'
import { hasBrowser, photograph, TestBrowser } from './browser.js'

/** A busy machine must not look like a dead node. */
const PATIENT = ['--heartbeat-ms', '200', '--dead-after-ms', '2500', '--log-level', 'warn']
const SLOW = { timeout: 60_000 }

const processes = new Processes()
const browser = new TestBrowser()
afterEach(async () => {
  await browser.close()
  await processes.end()
})

const start = (name: string, first?: NodeProcess): Promise<NodeProcess> =>
  processes.start(name, ...PATIENT, ...(first === undefined ? [] : ['--join', first.address]))

const says = (page: Page, selector: string, text: RegExp): Promise<unknown> =>
  page.waitForFunction(
    ([where, pattern]) =>
      new RegExp(pattern).test(document.querySelector(where)?.textContent ?? ''),
    [selector, text.source] as const,
    SLOW
  )

const column = (name: string): string => `[data-node="${name}"]`
const totalOf = async (page: Page, name: string): Promise<number> => {
  const text = (await page.textContent(`${column(name)} .numbers`)) ?? ''
  return text.split('+').reduce((sum, part) => sum + Number(part), 0)
}

async function write(node: NodeProcess, count: number): Promise<void> {
  const connection = await processes.connect(node)
  for (let key = 0; key < count; key++) await connection.call('SET', `user:${key}`, `value ${key}`)
}

/** Something for the plots to show, until it is stopped; a node that dies under it is no matter. */
function keepBusy(nodes: readonly NodeProcess[]): { stop(): Promise<void> } {
  let stopped = false
  const one = async (node: NodeProcess): Promise<void> => {
    const connection = await processes.connect(node)
    for (let key = 0; !stopped; key++) {
      await connection.call('SET', `user:${key % 5000}`, `value ${key}`)
      await connection.call('GET', `user:${(key * 7) % 5000}`)
    }
  }
  const running = nodes.map((node) => one(node).catch(() => undefined))
  return {
    stop: async () => {
      stopped = true
      await Promise.all(running)
    }
  }
}

/** Counts copies that fly, from now on. */
async function countFlights(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const seen = { count: 0 }
    Object.assign(window, { seen })
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) {
        for (const one of addedNodes) if (one instanceof HTMLElement) seen.count++
      }
    }).observe(document.querySelector('.flights')!, { childList: true })
  })
  return () => page.evaluate(() => (window as unknown as { seen: { count: number } }).seen.count)
}

describe.skipIf(!hasBrowser)('the dashboard', () => {
  test('shows a join, a death and what is done about it', async () => {
    const a = await start('a')
    const b = await start('b', a)
    await write(a, 300)
    const traffic = keepBusy([a, b])
    const page = await browser.open(a.http)
    await says(page, '.verdict', /^Balanced$/)
    expect(await totalOf(page, 'a')).toBe(256)
    expect(await page.textContent('.legend')).toMatch(/primary 256.*backup 256/)

    const flights = await countFlights(page)
    await start('c', a)
    await page.waitForSelector(column('c'), SLOW)
    await says(page, '.timeline', /c joined/)
    await page.waitForFunction(
      (where) => !/^0 \+ 0$/.test(document.querySelector(where)?.textContent ?? ''),
      `${column('c')} .numbers`,
      SLOW
    )
    await photograph(page, 'join')
    await says(page, '.verdict', /^Balanced$/)
    for (const name of ['a', 'b', 'c']) {
      expect(Math.abs((await totalOf(page, name)) - 170.5)).toBeLessThan(1)
    }
    expect(await flights()).toBeGreaterThan(50)
    await says(page, '.timeline', /moves and switches of roles.*(share|room|below|fewer)/)
    await photograph(page, 'dashboard')

    await b.kill()
    await says(page, '.verdict', /without a backup|dead/)
    await photograph(page, 'death')
    await page.waitForSelector(`${column('b')}.dead`, SLOW)
    await says(page, '.timeline', /took over \d+ buckets from b/)
    await says(page, '.timeline', /b died/)
    await says(page, '.verdict', /^Balanced; b dead$/)
    expect((await totalOf(page, 'a')) + (await totalOf(page, 'c'))).toBe(512)

    await page.click(`${column('b')} .node-name`)
    await page.click('dialog >> text=Forget…')
    await page.click('dialog >> text=Forget b')
    await page.waitForSelector(column('b'), { state: 'detached', ...SLOW })
    await says(page, '.verdict', /^Balanced$/)
    expect(
      Number.parseFloat((await page.textContent('.top dl div:last-child dd')) ?? '')
    ).toBeGreaterThan(0)
    expect(browser.complaints).toEqual([])
    await traffic.stop()
  })

  test('goes on from another node when its own dies', async () => {
    const a = await start('a')
    await Promise.all([start('b', a), start('c', a)])
    const page = await browser.open(a.http)
    await says(page, '.verdict', /^Balanced$/)
    await says(page, '.source', /seen by a at/)
    await page.waitForFunction(() => document.querySelectorAll('.numbers').length === 3)
    await a.kill()
    await says(page, '.source', /seen by [bc] at/)
    await page.waitForSelector(`${column('a')}.dead`, SLOW)
    await says(page, '.verdict', /^Balanced; a dead$/)
    // Its actions go to the node it is at now.
    await page.click(`${column('a')} .node-name`)
    await page.click('dialog >> text=Forget…')
    await page.click('dialog >> text=Forget a')
    await page.waitForSelector(column('a'), { state: 'detached', ...SLOW })
    expect(browser.complaints).toEqual([])
  })

  test('drains a node only when it is told twice', async () => {
    const a = await start('a')
    const b = await start('b', a)
    const page = await browser.open(a.http)
    await says(page, '.verdict', /^Balanced$/)
    await page.click(`${column('b')} .node-name`)
    await page.click('dialog >> text=Drain…')
    await page.click('dialog >> text=Cancel')
    expect(b.isRunning).toBe(true)
    await page.click('dialog >> text=Drain…')
    await page.click('dialog >> text=Drain b')
    await page.waitForSelector(column('b'), { state: 'detached', ...SLOW })
    expect(await b.ended).toEqual({ code: 0, signal: null })
    await says(page, '.timeline', /b left/)
  })

  test('finds a key, and shows what is in it as text', async () => {
    const a = await start('a')
    const nasty = '<img src=x onerror="document.title=1">'
    const connection = await processes.connect(a)
    await connection.call('HSET', nasty, 'field', nasty)
    const page = await browser.open(a.http)
    await page.waitForSelector('.lookup input:enabled')
    await page.fill('.lookup input', nasty)
    await page.press('.lookup input', 'Enter')
    await says(page, '.result', /#[0-9A-F]{2}.*a.*hash/)
    expect(await page.textContent('.result pre')).toBe(`field  ${nasty}`)
    expect(await page.locator('img').count()).toBe(0)
    await page.waitForSelector('.marker.found')
    await page.fill('.lookup input', 'nothing')
    await page.press('.lookup input', 'Enter')
    await says(page, '.result', /no such key/)
    expect(browser.complaints).toEqual([])
  })

  test('works by keyboard, in the dark and on a phone', async () => {
    const a = await start('a')
    await start('b', a)
    const page = await browser.open(a.http, { width: 390, height: 844, theme: 'dark' })
    await says(page, '.verdict', /^Balanced$/)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    await page.focus(`${column('a')} .cells`)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await says(page, '.inspector', /^#11primary/)
    const label = await page.getAttribute(`${column('a')} .cells`, 'aria-label')
    expect(label).toMatch(/^a, alive: 128 primary, 128 backup/)
    const background = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const dark = await background()
    await photograph(page, 'phone')
    await page.focus('button.icon')
    await page.keyboard.press('Enter')
    expect(await background()).not.toBe(dark)
    expect(browser.complaints).toEqual([])
  })
})

test('a browser fetches less than 150 KB', () => {
  const folder = join(import.meta.dirname, '..', '..', 'dist', 'web')
  const compressed = readdirSync(folder).filter((name) => name.endsWith('.gz'))
  const bytes = compressed.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  expect(compressed.length).toBeGreaterThanOrEqual(4)
  expect(bytes).toBeLessThan(150 * 1024)
})
