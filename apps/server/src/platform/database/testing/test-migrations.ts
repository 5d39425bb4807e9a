import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A folder of the migrations that came before the one of this name, without its number. */
export function migrationsBefore(t: TestContext, migration: string): string {
  return migrationsTo(t, migration, 0)
}

/** The same, with the one of this name as the last. */
export function migrationsThrough(t: TestContext, migration: string): string {
  return migrationsTo(t, migration, 1)
}

function migrationsTo(t: TestContext, migration: string, more: 0 | 1): string {
  const from = join(import.meta.dirname, '../migrations')
  const to = mkdtempSync(join(tmpdir(), 'bridgework-migrations-'))
  t.after(() => rmSync(to, { recursive: true }))
  const names = globSync('*.sql', { cwd: from }).sort()
  const end = names.findIndex((name) => name.endsWith(`_${migration}.sql`))
  if (end === -1) throw new Error(`there is no migration ${migration}`)
  for (const name of names.slice(0, end + more)) cpSync(join(from, name), join(to, name))
  return to
}
