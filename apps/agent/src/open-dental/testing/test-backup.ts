import type { TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'

/** Copies every table of an office's database, as a dump does; the function that it returns puts them back as they were, counters too. */
export async function backUp(mariaDb: TestMariaDb, name: string): Promise<() => Promise<void>> {
  backups += 1
  const copy = `${name}_backup_${backups}`
  await copyDatabase(mariaDb, name, copy)
  return () => copyDatabase(mariaDb, copy, name)
}

let backups = 0

/** Puts every table of one database in place of those of another, which is made where there is none. */
export async function copyDatabase(mariaDb: TestMariaDb, from: string, to: string): Promise<void> {
  await mariaDb.execute(`create database if not exists ${to}`)
  const rows = await mariaDb.execute(
    'select TABLE_NAME as name from information_schema.TABLES where TABLE_SCHEMA = ?',
    [from],
  )
  const statements = rows.map(
    ({ name }) =>
      `create table if not exists ${to}.${name} like ${from}.${name};truncate ${to}.${name};
       insert into ${to}.${name} select ${from}.${name}.* from ${from}.${name};`,
  )
  await mariaDb.execute(statements.join(''))
}
