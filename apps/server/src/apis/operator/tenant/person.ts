import { requirePersonEntry } from '../../../modules/overview/people.ts'
import { listMeans } from '../../../modules/recovery/means.ts'
import { resetSecondFactor } from '../../../modules/recovery/second-factor-reset.ts'
import { findPersonByEmail } from '../../../modules/sign-in/store.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { list, table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { required, text } from '../option.ts'

const options = { email: required('<address>', 'e-mail address of the account', text) }

export const person: CommandGroup = {
  help: 'people who have an account, whatever they belong to',
  commands: {
    show: command({
      help: 'Shows what an account belongs to, and everything that it can be signed in with.',
      act: null,
      options,
      run: async ({ pool }, { email }) => {
        const found = await requirePerson(pool, email)
        const means = await listMeans(pool, found.id)
        const facts = { person: found.id, name: found.name, email: found.email, created: found.createdAt }
        const memberships = found.memberships.map(({ side, id, name, role }) => [side, id, name, role])
        const rows = means.map((each) => [each.means, each.name, each.addedAt])
        return {
          data: { ...found, means },
          text: [
            list(facts),
            table(['side', 'id', 'name', 'role'], memberships),
            table(['means', 'name', 'since'], rows),
          ].join('\n\n'),
        }
      },
    }),
    'reset-second-factor': command({
      help: 'For a person who lost it: removes the authenticator app, recovery codes and passkeys, and ends the password and all sessions. A link for a new password is mailed and printed.',
      act: 'operator.second_factor_reset',
      needsReason: true,
      options,
      run: async ({ pool, secretKey, publicUrl }, { email }, record) => {
        const installation = { secretKey: await secretKey(), publicUrl }
        const data = await withTransaction(pool, async (client) => {
          const found = await requirePerson(client, email)
          const { link } = await resetSecondFactor(client, installation, found, (facts, concerned) =>
            record(client, facts, ...concerned),
          )
          return { id: found.id, email: found.email, link }
        })
        return { data, text: list({ person: data.id, email: data.email, 'new password': data.link }) }
      },
    }),
  },
}

async function requirePerson(db: Queryable, email: string) {
  const account = await findPersonByEmail(db, email)
  if (!account) throw new Problem('person_unknown', { errors: `There is no account with the address ${email}.` })
  return await requirePersonEntry(db, account.userId)
}
