import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const migrations = join(import.meta.dirname, '../../platform/database/migrations')

/** What migrations of a next version do in the ways that the rules allow (migration-locks.test.ts). */
const nextVersion = {
  next_table: 'create table next_thing (id bigint primary key, location_id bigint not null);',
  next_column: 'alter table record add column next_note text;\nalter table disclosure add column next_note text;',
  next_check: `alter table record add constraint next_note_short check (length(next_note) < 100) not valid;`,
  next_check_valid: 'alter table record validate constraint next_note_short;',
  next_index: `-- Outside a transaction: the table is large.
drop index concurrently if exists record_next_note;
create index concurrently record_next_note on record (location_id, next_note) where next_note is not null;
`,
}

/** A folder of this version's migrations and of some that a next one may add. */
export function withNextVersion(t: TestContext): string {
  const folder = someFolder(t)
  cpSync(migrations, folder, { recursive: true })
  const last = Math.max(...globSync('*.sql', { cwd: folder }).map((name) => Number(name.slice(0, 4))))
  for (const [index, [name, sql]] of Object.entries(nextVersion).entries())
    writeFileSync(join(folder, `${String(last + index + 1).padStart(4, '0')}_${name}.sql`), sql)
  return folder
}

/** A folder of the migrations up to this one. */
export function migrationsThrough(t: TestContext, migration: string): string {
  const folder = someFolder(t)
  const names = globSync('*.sql', { cwd: migrations }).sort()
  const end = names.indexOf(`${migration}.sql`)
  if (end === -1) throw new Error(`there is no migration ${migration}`)
  for (const name of names.slice(0, end + 1)) cpSync(join(migrations, name), join(folder, name))
  return folder
}

function someFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-migrations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}
