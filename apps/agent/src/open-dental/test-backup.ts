import type { TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'

/** Copies every table of an office's database, as a dump does; the function that it returns puts them back as they were, counters too. */
export async function backUp(mariaDb: TestMariaDb, name: string): Promise<() => Promise<void>> {
  backups += 1
  const copy = `${name}_backup_${backups}`
  await mariaDb.execute(`create database ${copy}`)
  const rows = await mariaDb.execute(
    'select TABLE_NAME as name from information_schema.TABLES where TABLE_SCHEMA = ?',
    [name],
  )
  const tables = rows.map((row) => String(row.name))
  await mariaDb.execute(tables.map((table) => copying(`${name}.${table}`, `${copy}.${table}`)).join(''))
  return async () => {
    const statements = tables.map(
      (table) => `drop table ${name}.${table};${copying(`${copy}.${table}`, `${name}.${table}`)}`,
    )
    await mariaDb.execute(statements.join(''))
  }
}

let backups = 0

function copying(from: string, to: string): string {
  return `create table ${to} like ${from};insert into ${to} select ${from}.* from ${from};`
}
