import { byHand, ours, type Row } from '../works/row.ts'
import { readable } from './table.ts'

/** A picture of the results, as SVG: readable in light and in dark. */
export type Plot = { name: string; title: string; svg: string }

/** Bars of requests in a second on a logarithmic scale: who is asked differs by a thousand times. */
export function barPlot(
  name: string,
  title: string,
  unit: string,
  bars: readonly { label: string; value: number }[],
): Plot {
  const shown = bars.filter(({ value }) => value > 0)
  const largest = Math.max(...shown.map(({ value }) => value))
  const smallest = Math.min(...shown.map(({ value }) => value))
  const low = Math.log10(smallest) - 0.4
  const scale = (value: number) => ((Math.log10(value) - low) / (Math.log10(largest) - low || 1)) * (width - left - 90)
  const lines = shown.map(({ label, value }, index) => {
    const y = top + index * step
    const kind = label.startsWith(ours) ? 'ours' : label.startsWith('limit') ? 'limit' : 'other'
    return `  <text class="label" x="${left - 8}" y="${y + 14}" text-anchor="end">${escapeXml(label)}</text>
  <rect class="${kind}" x="${left}" y="${y}" width="${scale(value).toFixed(1)}" height="20" rx="2"/>
  <text class="value" x="${(left + scale(value) + 6).toFixed(1)}" y="${y + 14}">${readable(value)}</text>`
  })
  return { name, title, svg: drawing(`${title} (${unit}, logarithmic)`, top + shown.length * step + 8, lines) }
}

/** Lines over the number of records in the location: one that is level costs the same at any size. */
export function growthPlot(name: string, title: string, rows: readonly Row[]): Plot {
  const sizes = [...new Set(rows.map(({ records = 0 }) => records))].toSorted((one, other) => one - other)
  const names = [...new Set(rows.map((row) => row.name))]
  const values = rows.map(({ cpuMs }) => cpuMs ?? 0)
  const high = Math.log10(Math.max(...values, 1e-3)) + 0.1
  const low = Math.log10(Math.max(1e-3, Math.min(...values))) - 0.1
  const height = 220
  const x = (size: number) => left + (sizes.indexOf(size) / Math.max(1, sizes.length - 1)) * (width - left - 150)
  const y = (value: number) => top + (1 - (Math.log10(Math.max(value, 1e-3)) - low) / (high - low)) * height
  const lines = names.flatMap((each, index) => {
    const own = rows.filter((row) => row.name === each)
    const points = own.map(({ records = 0, cpuMs }) => ({ x: x(records), y: y(cpuMs ?? 0), cpuMs: cpuMs ?? 0 }))
    const path = points.map((point) => `${point.x.toFixed(1)},${point.y.toFixed(1)}`).join(' ')
    const [last] = points.toReversed()
    const marks = points.map(
      (point) =>
        `  <circle class="line${index}" cx="${point.x.toFixed(1)}" cy="${point.y.toFixed(1)}" r="3"><title>${readable(point.cpuMs)} ms</title></circle>`,
    )
    return [
      `  <polyline class="line${index}" points="${path}" fill="none"/>`,
      ...marks,
      `  <text class="value" x="${((last?.x ?? 0) + 8).toFixed(1)}" y="${((last?.y ?? 0) + 4).toFixed(1)}">${readable(last?.cpuMs ?? 0)}</text>`,
      `  <text class="label line${index}" x="${left - 8}" y="${((points[0]?.y ?? 0) + 4).toFixed(1)}" text-anchor="end">${escapeXml(each)}</text>`,
    ]
  })
  const axis = sizes.map(
    (size) =>
      `  <text class="label" x="${x(size).toFixed(1)}" y="${top + height + 24}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
  )
  return { name, title, svg: drawing(title, top + height + 36, [...lines, ...axis]) }
}

/** The bars of one question: who answered it, how often in a second. */
export function barsOf(rows: readonly Row[], name: string, connections: number): { label: string; value: number }[] {
  return rows
    .filter((row) => row.name === name && row.connections === connections)
    .map(({ who, perSecond }) => ({ label: who === byHand ? 'hand-written route' : who, value: perSecond }))
}

const width = 760
const left = 250
const top = 44
const step = 28

function drawing(title: string, height: number, lines: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escapeXml(title)}</title>
  <style>
    text { font: 13px system-ui, sans-serif; fill: #333 }
    .title { font-weight: 600; font-size: 15px }
    .ours { fill: #0b7285 } .other { fill: #adb5bd } .limit { fill: #e8c48a }
    polyline { stroke-width: 2 }
    polyline.line0 { stroke: #0b7285 } polyline.line1 { stroke: #c2255c } polyline.line2 { stroke: #5f3dc4 } polyline.line3 { stroke: #e67700 }
    circle.line0 { fill: #0b7285 } circle.line1 { fill: #c2255c } circle.line2 { fill: #5f3dc4 } circle.line3 { fill: #e67700 }
    @media (prefers-color-scheme: dark) { text { fill: #ddd } .other { fill: #5c636a } .limit { fill: #8a6d3b } .ours { fill: #3bc9db } }
  </style>
  <text class="title" x="12" y="24">${escapeXml(title)}</text>
${lines.join('\n')}
</svg>
`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
