import type { Noun } from './command-line.ts'

export const database: Noun = {
  help: 'the database itself',
  verbs: {
    migrate: {
      help: 'Brings the database to this version’s schema, as every start of the server does: for when that shall happen before.',
      options: {},
      run: async ({ pool }) => {
        // Opening the database has migrated it.
        const { rows } = await pool.query<{ number: number; name: string }>(
          'select number, name from migration order by number desc limit 1',
        )
        const newest = rows[0]
        if (!newest) throw new Error('no migration is recorded')
        return { data: newest, text: `The database is at migration ${newest.number}, ${newest.name}.` }
      },
    },
  },
}
