import { findNewestMigration } from '../../platform/database/migrate.ts'
import { type CommandGroup, command } from './command-line.ts'
import { markRestored } from './database-restored.ts'

export const database: CommandGroup = {
  help: 'the database itself',
  commands: {
    migrate: command({
      help: 'Migrates the database to this version’s schema. Every start of the server does the same; use it to migrate earlier.',
      options: {},
      run: async ({ pool }) => {
        // Opening the database has migrated it.
        const newest = await findNewestMigration(pool)
        if (!newest) throw new Error('no migration is recorded')
        const { number, name } = newest
        return { data: { number, name }, text: `The database is at migration ${number}, ${name}.` }
      },
    }),
    restored: command({
      help: 'To be run once after the database was restored from a backup: agents then compare everything, and each vendor’s next delta returns every record.',
      options: {},
      run: async ({ pool }) => {
        const data = await markRestored(pool)
        return {
          data,
          text: `A new epoch has begun. Every agent compares everything at its next contact; ${data.grants} grants return every record at the next delta.`,
        }
      },
    }),
  },
}
