/** The dashboard: what the cluster looks like now, what it does and why. */
import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import '../style.css'
import { Moves, Timeline } from './activity.js'
import { BucketMap } from './bucket-map.js'
import { Flights } from './flights.js'
import { Header } from './header.js'
import { KeyLookup } from './key-lookup.js'
import { connection } from './model.js'
import { NodeDialog } from './node-dialog.js'
import { Plots } from './plots.js'
import { start } from './source.js'

function App() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the map
      </a>
      <Header />
      <main id="main" class={connection.value === 'searching' ? 'stale' : ''}>
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
      </main>
      <NodeDialog />
    </>
  )
}

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
start()
