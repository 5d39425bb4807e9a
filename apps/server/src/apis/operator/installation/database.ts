import { findNewestMigration } from '../../../platform/database/migrate.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { markRestored } from './database-restored.ts'

export const database: CommandGroup = {
  help: 'the database itself',
  commands: {
    migrate: command({
      help: 'Migrates the database to this version’s schema. Every start of the server does the same, unless BRIDGEWORK_MIGRATIONS is apart.',
      migrates: true,
      act: 'database.migrate',
      options: {},
      run: async ({ pool }, _, record) => {
        // Opening the database has migrated it.
        const newest = await findNewestMigration(pool)
        if (!newest) throw new Error('no migration is recorded')
        const { number, name } = newest
        await withTransaction(pool, (client) => record(client, { number, name }))
        return { data: { number, name }, text: `The database is at migration ${number}, ${name}.` }
      },
    }),
    restored: command({
      help: 'To be run once after the database was restored from a backup, before the server starts: agents then compare everything, and each vendor’s next delta returns every record.',
      act: 'database.restore',
      options: {},
      run: async ({ pool }, _, record) => {
        const epoch = await markRestored(pool, (begun, client) => record(client, { epoch: begun }))
        return {
          data: { epoch },
          text: 'A new epoch has begun. Every agent compares everything at its next contact, and each vendor’s next delta returns every record.',
        }
      },
    }),
  },
}
