/** The dashboard: what the cluster looks like now, what it does and why. */
import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import '../style.css'
import { Moves, Timeline } from './activity.js'
import { BucketMap } from './bucket-map.js'
import { Elastic } from './elastic.js'
import { startElastic } from './elastic-source.js'
import { Flights } from './flights.js'
import { Header } from './header.js'
import { KeyLookup } from './key-lookup.js'
import { connection, state } from './model.js'
import { NodeDialog } from './node-dialog.js'
import { Plots } from './plots.js'
import { RingMap, type RingState } from './ring-map.js'
import { start } from './source.js'

function App() {
  const ring = state.value?.ring
  return (
    <>
      <a class="skip" href="#main">
        Skip to the map
      </a>
      <Header />
      <main id="main" class={connection.value === 'searching' ? 'stale' : ''}>
        {ring === undefined ? <Buckets /> : <Ring ring={ring} />}
        <Elastic />
      </main>
      <NodeDialog />
    </>
  )
}

function Buckets() {
  return (
    <>
      <div class="stage">
        <BucketMap />
        <Flights />
      </div>
      <aside>
        <Moves />
        <KeyLookup />
        <Timeline />
      </aside>
      <Plots />
    </>
  )
}

function Ring({ ring }: { ring: RingState }) {
  return (
    <>
      <div class="stage">
        <RingMap ring={ring} />
      </div>
      <aside>
        <KeyLookup />
        <Timeline />
      </aside>
      <Plots />
    </>
  )
}

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
start()
startElastic()
