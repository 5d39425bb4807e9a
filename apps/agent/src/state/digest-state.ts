import type { DatabaseSync } from 'node:sqlite'
import type { Digests } from '../connector.ts'
import { inTransaction } from './state-file.ts'

/** The digests of the source, kept in the agent's state file so that a restart goes on where the last cycle ended. */
export function digestState(database: DatabaseSync): Digests & { forget(): void } {
  const statements = {
    between: database.prepare(
      'select run, rows, digest from digest where series = ? and run between ? and ? order by run',
    ),
    nextRun: database.prepare('select run from digest where series = ? and run >= ? order by run limit 1'),
    rows: database.prepare('select sum(rows) as rows from digest where series = ?'),
    remove: database.prepare('delete from digest where series = ? and run between ? and ?'),
    insert: database.prepare('insert into digest (series, run, rows, digest) values (?, ?, ?, ?)'),
    position: database.prepare('select position from digest_position'),
    keepPosition: database.prepare('insert or replace into digest_position (id, position) values (1, ?)'),
  }
  return {
    position: () => {
      const position = statements.position.get()?.position
      return typeof position === 'string' ? position : null
    },
    keepPosition: (position) => {
      statements.keepPosition.run(position)
    },
    between: function* (series, first, last) {
      for (const row of statements.between.iterate(series, first, last)) {
        yield { run: Number(row.run), rows: Number(row.rows), digest: String(row.digest) }
      }
    },
    nextRun: (series, from) => {
      const row = statements.nextRun.get(series, from)
      return row === undefined ? null : Number(row.run)
    },
    rows: (series) => Number(statements.rows.get(series)?.rows ?? 0),
    replace: (series, first, last, runs) => {
      inTransaction(database, () => {
        statements.remove.run(series, first, last)
        for (const { run, rows, digest } of runs) statements.insert.run(series, run, rows, digest)
      })
    },
    forget: () => database.exec('delete from digest; delete from digest_position'),
  }
}
