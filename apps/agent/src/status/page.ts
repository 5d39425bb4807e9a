import { createHash } from 'node:crypto'
import type { AgentStatus } from './status.ts'

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
dt { font-weight: 600 } dd { margin: 0 0 .75rem } h1 { font-size: 1.5rem } h2 { font-size: 1.125rem }
ol { padding: 0; list-style: none; font: 14px/1.6 ui-monospace, monospace; overflow-wrap: anywhere }
`

/** Nothing but the page itself: no script, no other address, no frame. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

const states: Readonly<Record<AgentStatus['state'], string>> = {
  starting: 'Starting',
  working: 'Working: a cycle is running',
  up_to_date: 'Up to date: waiting for the next cycle',
  incomplete: 'Some datasets are not up to date. The agent tries again by itself',
  failing: 'The last cycle did not succeed. The agent tries again by itself',
  stopped: 'Stopping',
}

/** The status for a person, who reloads nothing: the page does, every 15 seconds. */
export function statusPage(status: AgentStatus): string {
  const { lastCycle, lastUpload, lastError, lastUpdate, doing } = status
  const facts = [
    ['State', doing === null ? states[status.state] : doing],
    ['Server', status.server ?? 'not known yet'],
    [
      'Last complete cycle',
      lastCycle === null
        ? 'none since the start'
        : `${timeOf(lastCycle.at)}, ${seconds(lastCycle.durationMs)}, ${count(lastCycle.records)} records sent`,
    ],
    [
      'Last upload',
      lastUpload === null
        ? 'none since the start: nothing had changed'
        : `${timeOf(lastUpload.at)}, ${count(lastUpload.records)} records of ${lastUpload.dataset}`,
    ],
    ...status.failing.map(({ dataset, what, todo }) => [`Not read: ${dataset}`, `${what} ${todo}`]),
    ['Last error', lastError === null ? 'none since the start' : `${timeOf(lastError.at)}: ${lastError.text}`],
    ...(lastUpdate === null ? [] : [['Last update', `${timeOf(lastUpdate.at)}: ${lastUpdate.text}`]]),
    ['Started', `${timeOf(status.startedAt)}, version ${status.version}`],
  ]
  const lines = status.log.toReversed().map(({ at, text }) => `<li>${timeOf(at)} ${escaped(text)}</li>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="15">
<title>Bridgework agent</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Bridgework agent</h1>
<dl>
${facts.map(([name = '', value = '']) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('\n')}
</dl>
<h2>Log, newest first</h2>
<ol>
${lines.join('\n')}
</ol>
</main>
</body>
</html>
`
}

/** In the time of this computer, which is the office's. */
function timeOf(at: string): string {
  return new Date(at).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'medium' })
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
