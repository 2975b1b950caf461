/** Writes the plots as SVG, and as PNG too where a converter of the system is at hand. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure, runSuccessfully } from './external-command.js'
import { readHistory } from './history-file.js'
import { drawPlot, PLOTS } from './plot.js'
import { writeFileSafely } from './state-file.js'

/** librsvg's; any other would only be one more thing to try in vain. */
const CONVERTER = 'rsvg-convert'
const TIMEOUT_MS = 20_000

export interface PlotOptions {
  readonly historyFile: string
  readonly folder: string
  readonly signal: AbortSignal
}

/** What is missing for the PNGs, as a sentence, or undefined when all were written. */
export async function writePlots({
  historyFile,
  folder,
  signal
}: PlotOptions): Promise<string | undefined> {
  const rows = readHistory(historyFile)
  mkdirSync(folder, { recursive: true })
  const written: string[] = []
  for (const plot of PLOTS) {
    const path = join(folder, `${plot.file}.svg`)
    writeFileSafely(path, drawPlot(plot, rows))
    written.push(path)
  }
  for (const svg of written) {
    const png = svg.replace(/svg$/, 'png')
    try {
      await runSuccessfully([CONVERTER, '-o', png, svg], { timeoutMs: TIMEOUT_MS, signal })
    } catch (error) {
      if (!(error instanceof CommandFailure && error.kind === 'missing')) throw error
      return `${CONVERTER} is not installed (Debian: librsvg2-bin)`
    }
  }
  return undefined
}
