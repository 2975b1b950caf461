/** A real browser for the tests: Debian's chromium, without a screen. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { havePrograms } from '../support/packages.js'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

const root = join(import.meta.dirname, '..', '..')
const screenshots = join(root, 'coverage', 'screenshots')

/** Without it the tests that need it are left out, except where everything has to be there. */
export const hasBrowser = install() || process.env.CI === 'true'

/** Whether there is one, if need be from now on. */
function install(): boolean {
  if (havePrograms([CHROMIUM], ['chromium'])) return true
  process.stderr.write(
    'no chromium: the tests of the dashboard need it (apt-get install chromium)\n'
  )
  return false
}

export interface View {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
}

export class TestBrowser {
  /** What the pages complained about: scripts that fail, and whatever the content security policy forbids. */
  readonly complaints: string[] = []
  #browser: Browser | undefined

  async open(http: string, view: View = {}): Promise<Page> {
    this.#browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
    const { width = 1440, height = 1000, theme = 'light' } = view
    const page = await this.#browser.newPage({ viewport: { width, height }, colorScheme: theme })
    page.on('pageerror', (error) => this.complaints.push(error.message))
    page.on('console', (message) => {
      const text = message.text()
      // A node that was killed refuses connections, and the browser says so.
      if (message.type() === 'error' && !/net::ERR_/.test(text)) this.complaints.push(text)
    })
    await page.goto(`http://${http}/`)
    await page.waitForSelector('.column, .circle')
    return page
  }

  async close(): Promise<void> {
    await this.#browser?.close()
    this.#browser = undefined
  }
}

/** Kept for people: in coverage/screenshots, and with UPDATE_DOCS=1 also where the documentation shows it. */
export async function photograph(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
  if (process.env.UPDATE_DOCS === '1' && name === 'dashboard') {
    await page.screenshot({ path: join(root, 'docs', 'images', `${name}.png`) })
  }
}
