import { queryPostgres, querySqlite } from '../stores/query-mirror.ts'
import type { Command } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { readPlace } from './place.ts'
import { tableOf } from './table.ts'
import { UsageError } from './usage-error.ts'

export const sql: Command = {
  summary: 'ask a mirror a question in SQL, or learn how to open it',
  usage: '--to <sqlite:file | postgres://…> ["select …"]',
  details: ['The query can change nothing. Without one, the command prints how to open the mirror in its own program.'],
  options: { to: { value: 'place', summary: 'sqlite:<file> or postgres://…, as of the mirror' } },
  argsMax: 1,
  async run({ args: [query], options, env, json, write }) {
    const to = options.text('to') ?? env.BRIDGEWORK_MIRROR_TO
    if (!to) throw new UsageError('Missing: --to sqlite:copy.sqlite or --to postgres://…')
    const place = readPlace(to)
    if (place.kind === 'folder') {
      const text =
        'A folder of NDJSON files has no SQL. Make a mirror with --to sqlite:copy.sqlite or --to postgres://…'
      throw new UsageError(text)
    }
    if (query === undefined) {
      const lines =
        place.kind === 'sqlite'
          ? [`sqlite3 -readonly ${place.file}`]
          : ['psql <the URL of the mirror>', 'set search_path to bridgework;']
      await write(`${lines.join('\n')}\n`)
      return exitCodes.done
    }
    if (query.trim() === '') throw new UsageError('The query is empty. Write it like "select count(*) from patients"')
    const answer = await (place.kind === 'sqlite' ? querySqlite(place.file, query) : queryPostgres(place.url, query))
    if (json) for (const row of answer.rows) await write(`${JSON.stringify(row, (_, value) => plain(value))}\n`)
    else {
      const rows = answer.rows.map((row) => answer.columns.map((column) => textOf(row[column])))
      await write(tableOf(answer.columns, rows))
    }
    return exitCodes.done
  },
}

/** A whole number that JavaScript cannot hold is a text, as ids are in the API. */
function plain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
