import type { OperatorPerson } from '@bridgework/contract/portal'
import { type PersonEntry, pageOfPeople, requirePersonEntry } from '../../../modules/overview/people.ts'
import { listMeans } from '../../../modules/recovery/means.ts'
import { resetSecondFactor } from '../../../modules/recovery/second-factor-reset.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { parseUuid } from '../../../platform/identity/identity.ts'
import { recordOperation, requireReasonFor } from '../shared/audit.ts'
import type { Call, PortalHandlers } from '../shared/context.ts'
import { readListPage, toListed } from '../shared/list.ts'

/** Everybody who has an account, what it can be signed in with, and the help for those who lost their second factor. */
export const operatorPeopleHandlers: PortalHandlers<'listOperatorPeople' | 'getOperatorPerson' | 'resetSecondFactor'> =
  {
    listOperatorPeople: async ({ pool }, { query }) => {
      const page = readListPage(query)
      const { total, people } = await pageOfPeople(pool, page)
      return toListed(page, total, people.map(toPerson))
    },

    getOperatorPerson: async ({ pool }, { params }) => {
      const person = await requirePersonEntry(pool, parseUuid(params.user_id ?? ''))
      const held = await listMeans(pool, person.id)
      return {
        ...toPerson(person),
        means: held.map(({ means, name, addedAt }) => ({ means, name, added_at: addedAt.toISOString() })),
      }
    },

    resetSecondFactor: async (context, call) => {
      requireReasonFor(call, 'Say why, and how you know that it is this person.')
      await withTransaction(context.pool, async (client) => {
        const person = await requirePersonEntry(client, parseUuid(call.params.user_id ?? ''))
        requireMayReset(call, person)
        await resetSecondFactor(client, context, person, (facts, concerned) =>
          recordOperation(client, call, 'operator.second_factor_reset', facts, ...concerned),
        )
      })
      return { done: true }
    },
  }

/** Throws Problem role_denied. */
function requireMayReset({ member, person: actor }: Call<'resetSecondFactor'>, person: PersonEntry): void {
  // A session that was stolen would get by that past what the account's own page asks for.
  if (person.id === actor.userId) {
    throw new Problem('role_denied', {
      errors: 'You cannot reset your own second factor here. Change it in your account, or ask another operator.',
    })
  }
  if (member.role !== 'admin' && person.memberships.some(({ side }) => side === 'operator')) {
    throw new Problem('role_denied', {
      errors: 'This person is an operator. Only an admin can reset their second factor.',
    })
  }
}

function toPerson({ id, name, email, createdAt, hasSecondFactor, memberships }: PersonEntry): OperatorPerson {
  return { id, name, email, created_at: createdAt.toISOString(), has_second_factor: hasSecondFactor, memberships }
}
