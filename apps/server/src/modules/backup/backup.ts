import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type pg from 'pg'
import { copyIn, copyOut } from '../../platform/database/copy.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { openSession } from '../../platform/database/session.ts'
import { requireNewPath } from '../../platform/errors/new-path.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { listDisclosureMonths, makeMonthsOf } from '../disclosure/months.ts'
import { createFrameWriter, type Frame, type FrameWriter, frameBytesMax, readFrames, unusable } from './sealed-file.ts'
import {
  type BackedUpTable,
  listMigrations,
  listSequences,
  listTables,
  type Migrations,
  measureTables,
} from './tables.ts'

/** What a backup has of a table, and the SHA-256 of its rows as `COPY` writes them. */
export type TableContent = { table: string; rows: number; sha256: string }

export type Backup = { at: string; migration: number; tables: TableContent[]; rows: number }

/** `months`: of which there are disclosures. The target needs a table for each. */
type Start = { at: string; migrations: Migrations; months: string[] }
type End = { sequences: { name: string; value: string }[] }

/** What a command gives: `keys`, of which the first seals and any opens; `show` gets how many bytes are done, of how many; `signal` ends it with Problem `stopped`. */
export type Work = {
  keys: readonly [Uint8Array, ...Uint8Array[]]
  signal: AbortSignal
  show: (done: number, total: number) => void
}

/**
 * Writes the whole database, as it is at one moment, into one sealed file. It appears when it is complete and never overwrites. `ownerUrl`: the
 * database, as the schema's owner. Throws a Problem.
 */
export async function createBackup(ownerUrl: string, output: string, at: Date, work: Work): Promise<Backup> {
  const path = resolve(output)
  await requireNewPath(path)
  const partial = `${path}.partial`
  const file = await open(partial, 'wx', 0o600)
  try {
    const writer = await createFrameWriter(file, work.keys[0])
    const backup = await withClient(ownerUrl, async (client) => {
      await client.query('begin isolation level repeatable read read only')
      return await writeAll(client, writer, at, work)
    })
    await file.sync()
    await file.close()
    await requireNewPath(path, { isBeingWritten: true })
    await rename(partial, path)
    return backup
  } catch (error) {
    await file.close().catch(() => {})
    await rm(partial, { force: true })
    throw error
  }
}

/** Opens every frame of a backup and compares every table with its hash. Throws Problem `backup_unusable`. */
export async function verifyBackup(input: string, work: Work): Promise<Backup> {
  return await withFile(input, async (file) => {
    return await readAll(file, work, {
      begin: async () => {},
      store: async (_, chunks) => {
        for await (const _ of chunks) if (work.signal.aborted) throw stopped()
        return null
      },
      end: async () => {},
    })
  })
}

/**
 * Replaces the content of an empty database of the same schema by a backup's, whole or not at all. `alongside` happens in the same transaction.
 * Throws Problem `database_not_empty` and `backup_unusable`.
 */
export async function restoreBackup(
  ownerUrl: string,
  input: string,
  work: Work,
  alongside: (client: Queryable) => Promise<void>,
): Promise<Backup> {
  return await withFile(input, (file) =>
    withClient(ownerUrl, async (client) => {
      await client.query('begin')
      const tables = new Map((await listTables(client)).map((table) => [table.name, table]))
      const backup = await readAll(file, work, {
        begin: async (start) => {
          requireSameSchema(start.migrations, await listMigrations(client))
          await requireEmpty(client)
          await client.query(`truncate ${[...tables.keys()].join(', ')}`)
          await makeMonthsOf(client, start.months)
        },
        store: async ({ name, columns }, chunks) => {
          if (tables.get(name)?.columns !== columns) throw unusable(`The table ${name} is not of this version.`)
          return await copyIn(client, `copy ${name} (${columns}) from stdin`, chunks)
        },
        end: async ({ sequences }) => {
          for (const { name, value } of sequences) await client.query('select setval($1, $2)', [name, value])
        },
      })
      if (backup.tables.length !== tables.size) throw unusable('The backup does not have every table.')
      await alongside(client)
      await client.query('commit')
      return backup
    }),
  )
}

async function writeAll(client: pg.Client, writer: FrameWriter, at: Date, work: Work): Promise<Backup> {
  const migrations = await listMigrations(client)
  const start: Start = { at: at.toISOString(), migrations, months: await listDisclosureMonths(client) }
  await writer.write('start', start)
  const contents: TableContent[] = []
  const total = await measureTables(client)
  let done = 0
  for (const table of await listTables(client)) {
    await writer.write('table', table)
    const hash = createHash('sha256')
    for await (const bytes of inFrames(
      copyOut(client, `copy (select ${table.columns} from ${table.name}) to stdout`),
    )) {
      if (work.signal.aborted) throw stopped()
      hash.update(bytes)
      await writer.write('rows', bytes)
      done += bytes.length
      work.show(Math.min(done, total), total)
    }
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${table.name}`)
    const content = { table: table.name, rows: Number(rows[0]?.count), sha256: hash.digest('hex') }
    await writer.write('checked', content)
    contents.push(content)
  }
  await writer.write('end', { sequences: await listSequences(client) } satisfies End)
  return summaryOf(start, contents)
}

/** Bytes in pieces of a frame's size: `COPY` gives them row by row. */
async function* inFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [waiting, bytes]: [Buffer[], number] = [[], 0]
  for await (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < frameBytesMax / 2) continue
    const all = Buffer.concat(waiting)
    for (let from = 0; from < all.length; from += frameBytesMax) yield all.subarray(from, from + frameBytesMax)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

type Reading = {
  begin: (start: Start) => Promise<void>
  /** Takes all chunks; how many rows they were, or null when it does not know. */
  store: (table: BackedUpTable, chunks: AsyncIterable<Buffer>) => Promise<number | null>
  end: (end: End) => Promise<void>
}

async function readAll(file: FileHandle, work: Work, reading: Reading): Promise<Backup> {
  const { size } = await file.stat()
  const frames = readFrames(file, work.keys)
  const next = async (...kinds: Frame['kind'][]): Promise<Frame> => {
    const { value, done } = await frames.next()
    if (done || !kinds.includes(value.kind)) throw unusable('The backup has an unknown form. Use another version.')
    return value
  }
  const start: Start = jsonOf(await next('start'))
  await reading.begin(start)
  const contents: TableContent[] = []
  for (let frame = await next('table', 'end'); ; frame = await next('table', 'end')) {
    if (frame.kind === 'end') {
      await reading.end(jsonOf(frame))
      // Nothing may follow, and the generator says when the file goes on.
      await frames.next()
      return summaryOf(start, contents)
    }
    const hash = createHash('sha256')
    let checked: TableContent | null = null
    const chunks = async function* () {
      for (let rows = await next('rows', 'checked'); ; rows = await next('rows', 'checked')) {
        if (work.signal.aborted) throw stopped()
        if (rows.kind === 'checked') {
          checked = jsonOf(rows)
          return
        }
        hash.update(rows.content)
        work.show(rows.end, size)
        yield rows.content
      }
    }
    const stored = await reading.store(jsonOf(frame), chunks())
    const content = checked as TableContent | null
    if (content === null || content.sha256 !== hash.digest('hex') || (stored !== null && stored !== content.rows)) {
      throw unusable('The rows of a table are not those that were backed up. Use another backup.')
    }
    contents.push(content)
  }
}

function summaryOf({ at, migrations }: Start, tables: TableContent[]): Backup {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return { at, migration: migrations.at(-1)?.number ?? 0, tables, rows }
}

function requireSameSchema(of: Migrations, here: Migrations): void {
  if (JSON.stringify(of) === JSON.stringify(here)) return
  const numberOf = (migrations: Migrations) => migrations.at(-1)?.number ?? 0
  throw unusable(
    `The backup has migration ${numberOf(of)}, and this database has ${numberOf(here)}. Restore it with the version of Bridgework that made it, then upgrade.`,
  )
}

/** A new database has rows that the service makes for itself, and none of these. */
async function requireEmpty(client: pg.Client): Promise<void> {
  for (const table of ['organization', 'company', 'membership', 'portal_user', 'record', 'disclosure']) {
    const { rows } = await client.query(`select from ${table} limit 1`)
    if (rows.length > 0) throw new Problem('database_not_empty')
  }
}

function jsonOf<T>({ content }: Frame): T {
  return JSON.parse(content.toString())
}

function stopped(): Problem {
  return new Problem('stopped', { errors: 'Stopped. Nothing was written.' })
}

/** A connection without the pool's time limits: a large table takes minutes. */
async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openSession(url, { application_name: 'bridgework backup' })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw unusable(`The file ${path} cannot be read.`, cause)
  })
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}
