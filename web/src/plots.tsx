/** The last minutes: small plots with one time axis, the whole in ink and each node as a thin line. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { formatBytes, formatCount, formatDuration, formatTime } from './format.js'
import { nodes, samples } from './model.js'
import { nodeColour } from './node-colour.js'
import { arrange, type Measure } from './series.js'
import { colour, theme } from './theme.js'

interface Plot extends Measure {
  readonly title: string
  readonly unit: string
  readonly format: (value: number) => string
  /** The scale goes at least to this. */
  readonly least: number
  /** It counts bytes, so its axis is in powers of two. */
  readonly isBytes?: boolean
}

const HEIGHT = 132
const BYTE_STEPS = Array.from({ length: 45 }, (_, power) => 2 ** power)

const PLOTS: readonly Plot[] = [
  {
    title: 'Operations',
    least: 10,
    unit: 'a second, executed',
    format: formatCount,
    read: ({ operations }) => operations,
    join: 'sum'
  },
  {
    title: 'Latency',
    least: 200,
    unit: 'p50 / p99 of the slowest node',
    format: formatDuration,
    read: ({ p50 }) => p50,
    upper: ({ p99 }) => p99,
    join: 'mean'
  },
  {
    title: 'Memory',
    least: 2 ** 24,
    unit: 'heap and store',
    format: formatBytes,
    isBytes: true,
    read: ({ heapBytes, storeBytes }) => heapBytes + storeBytes,
    join: 'sum'
  },
  {
    title: 'Items',
    least: 10,
    unit: 'copies held',
    format: formatCount,
    read: ({ items }) => items,
    join: 'sum'
  },
  {
    title: 'Replication lag',
    least: 2 ** 10,
    unit: 'not acknowledged',
    format: formatBytes,
    isBytes: true,
    read: ({ lagBytes }) => lagBytes,
    join: 'max'
  },
  {
    title: 'Moves',
    least: 10,
    unit: 'copies shipped a second',
    format: formatCount,
    read: ({ shipped }) => shipped,
    join: 'sum'
  }
]

export function Plots() {
  return (
    <section class="plots" aria-label="The last minutes">
      {PLOTS.map((plot) => (
        <PlotPanel key={plot.title} {...plot} />
      ))}
    </section>
  )
}

function PlotPanel(plot: Plot) {
  const { title, unit, format } = plot
  const body = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const readout = useRef<HTMLElement>(null)
  const series = arrange(samples.value, plot)
  const names = [...series.byNode.keys()]
  const shape = `${theme.value}/${nodes.value.length}/${names.join('/')}`
  const lines = series.upper === undefined ? [series.total] : [series.total, series.upper]
  const data = [series.times, ...lines, ...series.byNode.values()] as uPlot.AlignedData
  const last = series.total.at(-1) ?? 0
  const upper = series.upper?.at(-1)
  useEffect(() => {
    const host = body.current
    if (host === null) return
    const made = new uPlot(options(plot, names, host.clientWidth), data, host)
    chart.current = made
    const resize = new ResizeObserver(() =>
      made.setSize({ width: host.clientWidth, height: HEIGHT })
    )
    resize.observe(host)
    return () => {
      resize.disconnect()
      made.destroy()
    }
  }, [shape])
  useEffect(() => chart.current?.setData(data))
  const spoken = `${title}: ${format(last)}${upper === undefined || upper === null ? '' : `, p99 ${format(upper)}`}`
  return (
    <figure class="panel plot" aria-label={spoken}>
      <figcaption>
        <h2>{title}</h2>
        <b ref={readout}>
          {format(last)}
          {upper !== undefined && upper !== null && <span>{` / ${format(upper)}`}</span>}
        </b>
        <small>{unit}</small>
      </figcaption>
      <div ref={body} />
    </figure>
  )
}

function options(plot: Plot, names: readonly string[], width: number): uPlot.Options {
  const grid = { stroke: colour('line'), width: 1 }
  const axis = {
    stroke: colour('muted'),
    font: '11px system-ui, sans-serif',
    grid,
    ticks: { show: false }
  }
  const whole = { stroke: colour('ink'), width: 1.6, points: { show: false } }
  return {
    width,
    height: HEIGHT,
    padding: [6, 16, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: 'time' },
      y: false,
      points: { show: false },
      drag: { x: false, y: false }
    },
    scales: {
      x: { time: true },
      y: { range: (_u, _min, max) => [0, Math.max(max * 1.12, plot.least)] }
    },
    axes: [
      {
        ...axis,
        size: 22,
        space: 80,
        values: (_u, ticks) => ticks.map((tick) => formatTime(tick * 1000))
      },
      {
        ...axis,
        size: 60,
        space: 30,
        ...(plot.isBytes === true ? { incrs: BYTE_STEPS } : {}),
        values: (_u, ticks) => ticks.map((tick) => plot.format(tick))
      }
    ],
    series: [
      {},
      { ...whole, fill: colour('plot-fill') },
      ...(plot.upper === undefined ? [] : [{ ...whole, dash: [4, 3], width: 1.2 }]),
      ...names.map((name) => ({ stroke: nodeColour(name), width: 1, points: { show: false } }))
    ]
  }
}
