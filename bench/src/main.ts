import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findLoadClient } from './client/load.ts'
import { type BenchOptions, readCommandLine, usage } from './command-line.ts'
import { createReadingFixture, type ReadingFixture } from './fixture/reading.ts'
import { type Uploads, uploadsOf } from './fixture/uploads.ts'
import { describeRun, mergeResults, type Results, readResults, writeResults } from './report/results.ts'
import { formatRows, isMissed, unsteady } from './report/table.ts'
import { writeReport } from './report/write-report.ts'
import { type Row, workNames } from './works/row.ts'
import { locationsNeeded } from './works/work.ts'
import { works } from './works/works.ts'
import { createWorld } from './world/practice.ts'
import { createThrowAwayServer } from './world/throw-away-server.ts'

/** What is running, to be removed at the end, the last one first. */
const running: (() => Promise<void>)[] = []
const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    isInterrupted = true
    await removeAll()
    process.exit(130)
  })
}
const options = readOptions()
if (options) {
  try {
    process.exitCode = await bench(options)
  } finally {
    if (!isInterrupted) await removeAll()
  }
}

function readOptions(): BenchOptions | null {
  try {
    return readCommandLine(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    process.exitCode = 2
    return null
  }
}

/** Returns the exit code: 1 when a target is missed or a work failed. */
async function bench(options: BenchOptions): Promise<number> {
  const client = await findLoadClient()
  say('Starting a server on a throw-away database …')
  const uploads = await startOwn(options)
  const earlier = options.against === null ? null : await startOther(options.against, options)
  let fixture: Promise<ReadingFixture> | undefined
  const context = {
    options,
    client,
    say,
    world: uploads.world,
    uploads,
    earlier,
    reading() {
      fixture ??= createReadingFixture(uploads, earlier, options, say).then((made) => {
        running.push(made.stop)
        return made
      })
      return fixture
    },
  }
  const chosen = options.only.length === 0 ? workNames : workNames.filter((name) => options.only.includes(name))
  const rows: Row[] = []
  const failed: string[] = []
  const results: Results = { works: {} }
  for (const name of chosen) {
    try {
      const done = await works[name](context)
      rows.push(...done)
      results.works[name] = { run: describeRun(options, client.name), rows: done }
      if (!options.json) console.log(formatRows(name, done))
      // After each work, so that a run that is ended early leaves what it measured.
      const because = options.report ? unsteady(done) : []
      if (because.length > 0) {
        delete results.works[name]
        failed.push(name)
        say(`NOT WRITTEN: ${name}. The machine was not quiet: ${because.join('; ')}. Run it again with --only ${name}.`)
      } else if (options.report) report(results)
    } catch (error) {
      if (isInterrupted) throw error
      // The other works are measured all the same.
      failed.push(name)
      say(`${name} FAILED: ${error instanceof Error ? error.stack : error}`)
    }
  }
  if (options.json) console.log(JSON.stringify(results))
  if (options.report) say('Wrote bench/results.json, docs/performance.md and its plots')
  const missed = rows.filter(isMissed)
  for (const { name, connections, who } of missed) say(`MISSED: ${name}, ${connections} connections, against ${who}`)
  if (failed.length > 0) say(`FAILED: ${failed.join(', ')}`)
  return missed.length > 0 || failed.length > 0 ? 1 : 0
}

function report(results: Results): void {
  const merged = mergeResults(readResults(), results)
  writeResults(merged)
  writeReport(merged)
}

async function startOwn({ rounds }: BenchOptions): Promise<Uploads> {
  const server = await createThrowAwayServer()
  running.push(server.remove)
  await server.start()
  return uploadsOf(await createWorld(server, { locations: locationsNeeded(rounds) }))
}

/** The server of another checkout, by that checkout's own means. */
async function startOther(folder: string, { rounds }: BenchOptions): Promise<Uploads> {
  const path = (file: string) => join(folder, 'bench/src/world', file)
  if (!existsSync(path('practice.ts'))) throw new Error(`${folder} is no checkout of this repository`)
  const commit = execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  say(`Starting a server of ${commit} …`)
  const load = (file: string) => import(pathToFileURL(path(file)).href)
  const { createThrowAwayServer: createServer } = (await load(
    'throw-away-server.ts',
  )) as typeof import('./world/throw-away-server.ts')
  const { createWorld: create } = (await load('practice.ts')) as typeof import('./world/practice.ts')
  const server = await createServer()
  running.push(server.remove)
  await server.start()
  return uploadsOf(await create(server, { locations: locationsNeeded(rounds) }))
}

async function removeAll(): Promise<void> {
  for (const remove of running.splice(0).toReversed()) await remove().catch((error) => say(String(error)))
}
