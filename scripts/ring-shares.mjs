// How evenly a ring shares its keys: the tables of docs/ring.md and the plot docs/ring-shares.svg. After a build:
//   node scripts/ring-shares.mjs
import { writeFileSync } from 'node:fs'

const { Ring, virtualPositions } = await import('../dist/src/core/placement/ring.js')
const { Random } = await import('../dist/src/core/random.js')

const SETS = 300
const VNODES = [4, 64, 256]
const SIZES = [3, 5, 10]

function draw(random, nodes, vnodes) {
  const ports = new Set()
  while (ports.size < nodes) ports.add(random.between(1024, 65_535))
  const members = [...ports].map((port) => {
    const url = `http://localhost:${port}`
    return { name: `n${port}`, zone: '', positions: virtualPositions(url, vnodes) }
  })
  const ring = new Ring(members)
  return ring.nodes.map((name) => ring.shareOf(name) * nodes)
}

const rows = []
for (const nodes of SIZES) {
  for (const vnodes of VNODES) {
    const random = new Random(nodes * 1000 + vnodes)
    const largest = []
    const smallest = []
    for (let i = 0; i < SETS; i++) {
      const shares = draw(random, nodes, vnodes)
      largest.push(Math.max(...shares))
      smallest.push(Math.min(...shares))
    }
    const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length
    rows.push({
      nodes,
      vnodes,
      largest,
      mean: mean(largest),
      worst: Math.max(...largest),
      least: mean(smallest)
    })
  }
}

console.log(
  '| nodes | vnodes | largest share, mean | largest share, worst | smallest share, mean |'
)
console.log('| --- | --- | --- | --- | --- |')
for (const { nodes, vnodes, mean, worst, least } of rows) {
  const cells = [nodes, vnodes, mean.toFixed(2), worst.toFixed(2), least.toFixed(2)]
  console.log(`| ${cells.join(' | ')} |`)
}

// For five nodes: the largest share of each of the sets, sorted, one line for each number of virtual nodes.
const [width, height, left, bottom] = [640, 320, 48, 36]
const x = (i) => left + (i / (SETS - 1)) * (width - left - 16)
const y = (share) => height - bottom - ((share - 1) / 2.2) * (height - bottom - 16)
const colours = ['#c0392b', '#2471a3', '#1e8449']
const lines = rows
  .filter(({ nodes }) => nodes === 5)
  .map(({ vnodes, largest }, index) => {
    const sorted = [...largest].sort((a, b) => a - b)
    const points = sorted.map((share, i) => `${x(i).toFixed(1)},${y(share).toFixed(1)}`).join(' ')
    const label = `<text x="${left + 12}" y="${28 + index * 18}" fill="${colours[index]}">${vnodes} virtual nodes</text>`
    return `<polyline fill="none" stroke="${colours[index]}" stroke-width="2" points="${points}"/>${label}`
  })
const ticks = [1, 1.5, 2, 2.5, 3].map(
  (share) =>
    `<line x1="${left}" x2="${width - 16}" y1="${y(share)}" y2="${y(share)}" stroke="#ddd"/>` +
    `<text x="8" y="${y(share) + 4}">${share.toFixed(1)}</text>`
)
const title = `largest share of five nodes as a multiple of the average, ${SETS} sets of nodes, sorted`
writeFileSync(
  new URL('../docs/ring-shares.svg', import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">` +
    `<rect width="${width}" height="${height}" fill="#fff"/>${ticks.join('')}${lines.join('')}` +
    `<text x="${left}" y="${height - 10}">${title}</text></svg>\n`
)
