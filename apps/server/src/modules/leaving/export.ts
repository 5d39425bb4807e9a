import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type DatasetName, datasetNames, getDataset } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { requireNewPath } from '../../platform/errors/new-path.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { requireOrganization } from '../directory/organization.ts'
import { renderDetail } from '../records/write/document.ts'
import { type ExportedFile, readMe } from './export-readme.ts'
import { organizationEndings } from './organization-endings.ts'
import { exportedTables } from './organization-export.ts'

/** About this many bytes, and at least a row, are in memory at once. */
const batchBytes = 1024 * 1024
const batchRowsMax = 2_000

/**
 * Writes all that is held about a practice, as it is at one moment, into a new folder: NDJSON files, a manifest with counts and SHA-256, and a
 * README. The folder appears whole or not at all: it is written beside its place and renamed. Throws a Problem when there is no such
 * organization, or the folder exists. `alongside` happens before anything is read.
 */
export async function exportOrganization(
  deps: { pool: Pool; now: () => Date; signal: AbortSignal; onWritten: (rows: number) => void },
  organizationId: OrganizationId,
  output: string,
  alongside: (db: Queryable, name: string) => Promise<void>,
): Promise<{ folder: string; files: ExportedFile[] }> {
  const folder = resolve(output)
  const partial = `${folder}.partial`
  const organization = await requireOrganization(deps.pool, organizationId)
  await requireNewPath(folder)
  await withTransaction(deps.pool, (client) => alongside(client, organization.name))
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    await mkdir(join(partial, 'records'), { mode: 0o700 })
    const files = await writeAll(deps, organizationId, partial)
    const manifest = {
      format: 1,
      organization: { id: organizationId, name: organization.name },
      exported_at: deps.now(),
      files,
    }
    await writeFile(join(partial, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
    const sums = files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join('')
    await writeFile(join(partial, 'SHA256SUMS'), sums, { mode: 0o600 })
    await writeFile(join(partial, 'README.txt'), readMe(organization.name, deps.now(), files), { mode: 0o600 })
    await requireNewPath(folder, { isBeingWritten: true })
    await rename(partial, folder)
    return { folder, files }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** All files from one snapshot, so that they fit together. */
async function writeAll(
  deps: { pool: Pool; signal: AbortSignal; onWritten: (rows: number) => void },
  organizationId: OrganizationId,
  folder: string,
): Promise<ExportedFile[]> {
  return await withTransaction(deps.pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only; set local statement_timeout = 0')
    const write = (path: string, about: string, query: Query) =>
      writeFileOf({ ...deps, client, folder }, path, about, query)
    const files: ExportedFile[] = []
    for (const [table, exported] of Object.entries(exportedTables)) {
      const { file, about, order, omit = '', also } = exported
      const line = `to_jsonb(${table}) - string_to_array('${omit}', ',')${also ? ` || ${also}` : ''}`
      const text = `select (${line})::text as line from ${table} where ${rowsOf(table)} order by ${order}`
      const read = ({ line }: { line: string }) => line
      files.push(await write(`${file}.ndjson`, about, { text, values: [organizationId], lineOf: read }))
    }
    for (const dataset of datasetNames) {
      const text = `select location_id, received_at, coalesce(document_with_notes, document) as document, source from record
        where ${rowsOf('record')} and dataset = $2 order by location_id, id`
      const query = { text, values: [organizationId, dataset], lineOf: lineOfRecord(dataset) }
      files.push(await write(`records/${dataset}.ndjson`, `every record of ${dataset}, removed ones too`, query))
    }
    return files
  })
}

function rowsOf(table: string): string {
  const ending = organizationEndings[table]
  const rows = exportedTables[table]?.rows ?? (ending && ending.ends !== 'none' ? ending.rows : null)
  if (rows === null) throw new Error(`the rows of ${table} are not known`)
  return rows
}

/** The record as vendors receive it one by one, with all its attributes. */
function lineOfRecord(name: DatasetName) {
  const dataset = getDataset(name)
  return (row: { location_id: LocationId; received_at: Date; document: string; source: string }) => {
    const at = JSON.stringify({ location_id: row.location_id, received_at: row.received_at })
    return `${at.slice(0, -1)},"record":${renderDetail(dataset, row.document, row.source)}}`
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each query's rows are those of its own text.
type Query = { text: string; values: unknown[]; lineOf: (row: any) => string }

async function writeFileOf(
  deps: { client: PoolClient; folder: string; signal: AbortSignal; onWritten: (rows: number) => void },
  path: string,
  about: string,
  query: Query,
): Promise<ExportedFile> {
  const { client } = deps
  const hash = createHash('sha256')
  const written: ExportedFile = { path, about, rows: 0, bytes: 0, sha256: '' }
  const file = await open(join(deps.folder, path), 'wx', 0o600)
  try {
    await client.query({ text: `declare exported no scroll cursor for ${query.text}`, values: query.values })
    for (let next = 10; next > 0; ) {
      if (deps.signal.aborted) throw new Problem('stopped', { errors: 'Stopped. Nothing was exported.' })
      // The first rows may come from a sort of everything.
      const { rows } = await client.query({ text: `fetch ${next} from exported`, query_timeout: sortTimeoutMs } as {
        text: string
      })
      const text = Buffer.from(rows.map((row) => `${query.lineOf(row)}\n`).join(''))
      hash.update(text)
      await file.appendFile(text)
      written.rows += rows.length
      written.bytes += text.length
      deps.onWritten(rows.length)
      const fitting = Math.floor((rows.length * batchBytes) / Math.max(1, text.length))
      next = rows.length < next ? 0 : Math.max(1, Math.min(batchRowsMax, next * 4, fitting))
    }
    await client.query('close exported')
    await file.sync()
  } finally {
    await file.close()
  }
  return { ...written, sha256: hash.digest('hex') }
}

const sortTimeoutMs = 60 * 60_000
