import { byHand, ours, type Row, type WorkName, workNames } from '../works/row.ts'
import type { Plot } from './plots.ts'
import type { Results, Run } from './results.ts'
import { findRow, isMissed, readable } from './table.ts'

/** The page about speed: every figure, and every sentence with one, comes from the results. */
export function performancePage({ works }: Results, plots: readonly Plot[]): string {
  const rows = workNames.flatMap((name) => works[name]?.rows ?? [])
  const sections = workNames.flatMap((name) => {
    const work = works[name]
    if (!work || work.rows.length === 0) return []
    return [`## ${titles[name]}\n\n${introductions[name]}\n\n${sectionOf(name, work.rows, plots)}`]
  })
  return wrapped(`# How fast the service is

\`npm run bench -- --report\` writes this page, its plots and [the figures as JSON](../bench/results.json).
[bench/README.md](../bench/README.md) says how it measures, and how to read a figure. Compare figures of one run only.

${circumstances(workNames.flatMap((name) => (works[name] ? [{ name, run: works[name].run }] : [])))}
Bridgework answers with all its checks: token, permit, sync slot, and the disclosure committed before the first byte. The
hand-written route (Fastify, \`pg\`, joins, \`JSON.stringify\`) and the other servers check nothing and record nothing.
"Bridgework is" means: so many times as fast, the median of the rounds. CPU ms is the processor time of the server and
of all of PostgreSQL, for one request or for a thousand records. It is the steadier figure, and "by CPU" is the ratio of
it. A work with that ratio was written only because no other server's rate differed by more than 15 % within the rounds
that count: the machine was quiet.

${targetsOf(rows)}
${sizing(rows)}
${sections.join('\n')}`)
}

const titles: Record<WorkName, string> = {
  page: 'Pages of 5,000',
  'page-100': 'Pages of 100',
  delta: 'Deltas',
  export: 'Exports',
  token: 'Tokens',
  sealing: 'Sealing',
  growth: 'Growth',
  ingest: 'Ingest',
  'first-sync': 'First sync',
  'five-syncs': 'Memory',
}

const introductions: Record<WorkName, string> = {
  page: `A first sync reads pages of 5,000, most often with gzip. They are made of [packed
segments](decisions/segments.md). "Begins within a run" starts between two segments.`,
  'page-100': 'The default page. It is read and put on record [with its permit](decisions/small-reads.md).',
  delta: `What a vendor asks most often, and most often nothing has changed ([how it is
answered](decisions/small-reads.md)). A delta of 10 waits until its disclosure is on the disk.`,
  export: `Every record of a dataset in [one answer](decisions/export.md). CPU ms is for a thousand records.`,
  token: 'A key pair for a token: the secret is checked, the request counted, the token signed.',
  sealing: 'Each disclosure is sealed later, in the background ([why](decisions/chain.md)).',
  growth: `The same requests, 8 connections, at a location of 10,000 records and more. A page is found by its key, and a
delta by the index of stamps, so what one costs depends on what it returns.`,
  ingest: `Uploads of 5,000 lines over HTTP: unpacked, checked, rendered and committed. CPU ms is for a thousand records.
With eight locations, eight upload at the same time.`,
  'first-sync': 'The command `bridgework mirror` copies all datasets of a practice into a new SQLite file.',
  'five-syncs': 'Five initial syncs, while an agent uploads without a pause, on a server that has just started.',
}

function circumstances(runs: readonly { name: WorkName; run: Run }[]): string {
  const keyOf = (run: Run) => `${run.at.slice(0, 10)} ${run.commit} ${run.isQuick} ${run.against}`
  const lines = [...Map.groupBy(runs, ({ run }) => keyOf(run)).values()].map((same) => {
    const [{ run } = same[0] as (typeof same)[0]] = same
    const who = same.length === runs.length ? 'Everything' : same.map(({ name }) => titles[name]).join(', ')
    return `- ${who}: ${run.at.slice(0, 10)}, commit ${run.commit}, ${run.cores} cores (${run.processor}), ${run.memoryGb} GB, Node
  ${run.node.slice(1)}, ${run.client}, ${run.rounds} round${run.rounds === 1 ? '' : 's'} of ${run.seconds} s${run.against === null ? '' : `; "the other checkout" is commit ${run.against}`}. Client, servers and PostgreSQL share
  the cores. Load of the machine: ${loadOf(same.map((each) => each.run.load))}.${run.isQuick ? ' A quick run: not for comparison.' : ''}${wasBusy(same.map((each) => each.run)) ? ' Other programs took most of the cores, so these figures say little.' : ''}`
  })
  return `${lines.join('\n')}\n`
}

/** The benchmark alone makes a load of about the connections that it uses. */
function wasBusy(runs: readonly Run[]): boolean {
  return runs.some(({ load, cores }) => load > 10 + cores)
}

function loadOf(loads: readonly number[]): string {
  const [least, most] = [Math.min(...loads), Math.max(...loads)]
  return least === most ? String(least) : `${least} to ${most}`
}

function targetsOf(rows: readonly Row[]): string {
  const asked = rows.filter(({ target }) => target !== null)
  if (asked.length === 0) return ''
  const lines = asked.map((row) => {
    const isMemory = row.memoryMb !== undefined
    const measured = isMemory
      ? `${row.memoryMb} MB`
      : row.cpuRatio == null
        ? `${readable(row.ratio ?? 0)} × by rate`
        : `${readable(row.cpuRatio)} × by CPU`
    const against = isMemory ? '' : `, against ${row.who === byHand ? 'the hand-written route' : row.who}`
    const target = isMemory ? `at most ${row.target} MB` : `${row.target} ×`
    return `| ${row.name}, ${connectionsOf(row)}${against} | ${target} | ${measured} | ${isMissed(row) ? 'missed' : 'reached'} |`
  })
  return `## Targets

| work | at least | measured | |
| --- | ---: | ---: | --- |
${lines.join('\n')}
`
}

/** What one core does, from the processor time of each request: the sentence that sizes a machine. */
function sizing(rows: readonly Row[]): string {
  const cpuOf = (name: string, connections: number) => findRow(rows, name, connections, ours)?.cpuMs ?? null
  const perCore = (name: string, connections: number, what: string, times = 1) => {
    const cpuMs = cpuOf(name, connections)
    return cpuMs === null || cpuMs === 0
      ? []
      : [`| ${what} | ${readable(cpuMs)} | ${readable((1000 * times) / cpuMs)} |`]
  }
  const lines = [
    ...perCore('empty delta', 8, 'empty deltas'),
    ...perCore('delta of 10', 8, 'deltas of 10'),
    ...perCore('page of 100', 8, 'pages of 100'),
    ...perCore('page of 5,000, gzip', 8, 'pages of 5,000, gzip'),
    ...perCore('page of 5,000', 8, 'pages of 5,000'),
    ...perCore('token', 8, 'tokens'),
    ...perCore('new records, 1 location', 1, 'new records (CPU ms for a thousand)', 1000),
    ...perCore('unchanged records, 1 location', 1, 'unchanged records (CPU ms for a thousand)', 1000),
  ]
  if (lines.length === 0) return ''
  return `## What to expect of one core, and how to size

A core that does nothing else has 1,000 ms of processor time in a second. Server and PostgreSQL together:

| work | CPU ms each | a second and core |
| --- | ---: | ---: |
${lines.join('\n')}

${examples(cpuOf, rows)}
Plan for half of that, so that a burst has room. A server process uses one core for its requests and a part of another
for compression; PostgreSQL uses the rest. Several processes share one database when one core is not enough.
`
}

/** The load of some vendors and practices, as cores. */
function examples(cpuOf: (name: string, connections: number) => number | null, rows: readonly Row[]): string {
  const sentences: string[] = []
  const empty = cpuOf('empty delta', 8)
  const ten = cpuOf('delta of 10', 8)
  if (empty !== null && ten !== null) {
    // Ten vendors, 1,000 locations, seven datasets, each minute; one delta in ten has changes.
    const perSecond = (10 * 1_000 * 7) / 60
    const cores = (perSecond * (0.9 * empty + 0.1 * ten)) / 1000
    sentences.push(
      `- Ten vendors that each ask for seven datasets of 1,000 locations every minute are ${readable(perSecond)} deltas a second. With changes in one
  of ten, that is ${readable(cores)} cores.`,
    )
  }
  const fresh = cpuOf('new records, 1 location', 1)
  const gzipPage = cpuOf('page of 5,000, gzip', 8)
  if (fresh !== null && gzipPage !== null) {
    sentences.push(
      `- A practice of 1,000,000 records needs ${readable(fresh)} s of processor time to arrive, and ${readable((200 * gzipPage) / 1000)} s for each vendor that copies it.`,
    )
  }
  const memory = rows.find(({ memoryMb }) => memoryMb !== undefined)?.memoryMb
  if (memory !== undefined)
    sentences.push(`- Memory of a server process with five initial syncs and an ingest: ${memory} MB.`)
  return sentences.length === 0 ? '' : `${sentences.join('\n')}\n`
}

function sectionOf(name: WorkName, rows: readonly Row[], plots: readonly Plot[]): string {
  const pictures = plots.filter((plot) => plotsOfWork[name]?.includes(plot.name))
  const images = pictures.map((plot) => `![${plot.title}](images/performance/${plot.name}.svg)\n\n`).join('')
  const groups = [...Map.groupBy(rows, (row) => `${row.name}|${row.connections}|${row.records ?? ''}`).values()]
  const isCompared = rows.some(({ who }) => who !== ours)
  const lines = groups.flatMap((group) =>
    group.map((row, index) => {
      const what = index === 0 || !isCompared ? `${row.name}, ${connectionsOf(row)}` : ''
      const times = (value: number | null | undefined) => (value == null ? '' : `${readable(value)} ×`)
      const ratio = isCompared ? ` ${times(row.ratio)} | ${times(row.cpuRatio)} |` : ''
      return `| ${what} |${isCompared ? ` ${row.who} |` : ''} ${readable(row.perSecond)} |${ratio} ${row.cpuMs === null ? '' : readable(row.cpuMs)} |`
    }),
  )
  const head = isCompared
    ? '| work | who | a second | Bridgework is | by CPU | CPU ms |\n| --- | --- | ---: | ---: | ---: | ---: |'
    : '| work | a second | CPU ms |\n| --- | ---: | ---: |'
  return `${images}${head}\n${lines.join('\n')}\n`
}

const plotsOfWork: Partial<Record<WorkName, readonly string[]>> = {
  page: ['page-gzip', 'page'],
  'page-100': ['page-100'],
  delta: ['empty-delta', 'delta-of-10'],
  growth: ['growth'],
  ingest: ['ingest'],
}

function connectionsOf({ work, connections, records }: Row): string {
  if (work === 'growth') return `${records?.toLocaleString('en')} records`
  if (work === 'ingest' || work === 'first-sync' || work === 'five-syncs') return `${connections} at a time`
  return `${connections} connection${connections === 1 ? '' : 's'}`
}

/** Paragraphs and lists in lines of at most 120 columns; tables and pictures cannot break. */
function wrapped(page: string): string {
  return page
    .replace(/\n{3,}/g, '\n\n')
    .split('\n\n')
    .map((block) =>
      /^[|!#]/.test(block)
        ? block
        : block
            .split(/\n(?=- )/)
            .map(fill)
            .join('\n'),
    )
    .join('\n\n')
    .replace(/\n*$/, '\n')
}

function fill(paragraph: string): string {
  const indent = paragraph.startsWith('- ') ? '  ' : ''
  const lines: string[] = []
  for (const word of paragraph.split(/\s+/).filter((each) => each !== '')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > 120)
      lines.push(lines.length === 0 ? word : `${indent}${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}
