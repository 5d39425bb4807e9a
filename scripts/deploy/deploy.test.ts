import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { parse } from 'yaml'
import type { LocationId } from '../../apps/server/src/platform/identity/identity.ts'
import { importantEvents } from '../../apps/server/src/platform/log/log.ts'
import { createMetrics } from '../../apps/server/src/platform/metrics/metrics.ts'
import { problems } from '../../packages/contract/src/problems.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const load = { lagMs: () => 0, heapShare: () => 0 }

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; action: string; runbook_url: string }
}
const alerts: Rule[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
)
const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  read('deploy/grafana/bridgework.json'),
)

test('every metric and value that alerts and the dashboard ask for exists', async () => {
  const shown = await shownMetrics()
  const asked = [...alerts, ...dashboard.panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr)
  assert.ok(asked.length > 25)
  for (const expr of asked) {
    const names = [...expr.matchAll(/\b(?:bridgework|process|nodejs)_\w+|\bup\b/g)].map(([name]) => name)
    assert.ok(names.length > 0, expr)
    for (const name of names) assert.ok(name === 'up' || shown.has(name), `${name} in ${expr}`)
    const known = { event: new Set<string>(importantEvents), code: new Set(Object.keys(problems)) }
    for (const [, label, operator, value = ''] of expr.matchAll(/(event|code)(=~?)"([^"]+)"/g)) {
      const values = known[label as keyof typeof known]
      const isKnown =
        operator === '=' ? values.has(value) : [...values].some((each) => new RegExp(`^(?:${value})$`).test(each))
      assert.ok(isKnown, `${label} ${value} in ${expr}`)
    }
  }
})

test('each alert says what to do, and the page of alerts has more on it', () => {
  const page = read('docs/operate/alerts.md')
  const headings = [...page.matchAll(/^## (Bridgework\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    alerts.map(({ alert }) => alert),
    headings,
    'the same order',
  )
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels.severity, /^(critical|warning)$/)
    assert.ok(annotations.summary && annotations.action, alert)
    const anchor = `https://bridgework.example/guides/alerts#${alert.toLowerCase()}`
    assert.equal(annotations.runbook_url, anchor)
  }
})

test('the page of metrics lists every metric of ours, and no other', async () => {
  const listed = [...read('docs/operate/metrics.md').matchAll(/^\| `(bridgework_\w+)`/gm)].map(([, name]) => name)
  const ours = [...(await shownMetrics(/^# TYPE (bridgework_\w+)/gm))]
  assert.deepEqual(listed.toSorted(), ours.toSorted())
})

test('promtool takes the alert rules, and they fire when they should', (t) => {
  if (spawnSync('promtool', ['--version']).error) return t.diagnostic('promtool is not installed (Debian: prometheus)')
  for (const args of [
    ['check', 'rules', 'alerts.yaml'],
    ['test', 'rules', 'alerts.test.yaml'],
  ]) {
    const run = spawnSync('promtool', args, { cwd: join(root, 'deploy/prometheus'), encoding: 'utf8' })
    assert.equal(run.status, 0, `${run.stdout}${run.stderr}`)
  }
})

/** The names that /metrics shows: of series, also those of a histogram, unless `pattern` asks for others. */
async function shownMetrics(pattern = /^(\w+)(?=[{ ])/gm): Promise<ReadonlySet<string>> {
  const pool = { totalCount: 0, idleCount: 0, waitingCount: 0 } as Pool
  const metrics = createMetrics({ work: pool }, load, async () => ({ datasets: 1, seconds: 1 }))
  const request = { requestId: '', method: 'GET', route: '/', status: 503, durationMs: 1 }
  metrics.observe({ event: 'request.answered', ...request, code: 'overloaded' })
  const upload = { locationId: '1' as LocationId, changed: 1, hidden: 0, isRepeated: false, durationMs: 1 }
  metrics.observe({ event: 'records.ingested', ...upload, dataset: 'patients' })
  return new Set([...(await metrics.render()).matchAll(pattern)].map(([, name = '']) => name))
}
