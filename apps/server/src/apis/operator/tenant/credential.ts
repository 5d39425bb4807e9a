import {
  generateKeyPair,
  listKeyPairs,
  type NewKeyPair,
  regenerateKeyPair,
  revokeKeyPair,
} from '../../../modules/credentials/key-pair.ts'
import { requireCompany } from '../../../modules/directory/company.ts'
import { getOwner } from '../../../modules/membership/member.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { CompanyId, MemberId } from '../../../platform/identity/identity.ts'
import { type Answer, list, table } from '../answer.ts'
import { type Command, type CommandGroup, command } from '../command-line.ts'
import { optional, required, uuid } from '../option.ts'

const company = required('<id>', 'the company', uuid<CompanyId>)

export const credential: CommandGroup = {
  help: 'key pairs of companies',
  commands: {
    generate: making(
      'Generates a company’s key pair, on behalf of its owner or of the member that you name.',
      generateKeyPair,
    ),
    regenerate: making(
      'Replaces a company’s key pair. The old key pair and its tokens stop working at once.',
      regenerateKeyPair,
    ),
    revoke: command({
      help: 'Revokes a company’s key pair and its tokens at once, without a new key pair.',
      act: 'key_pair.revoke',
      options: { company },
      run: async ({ pool }, { company }, record) => {
        const { id, name } = await requireCompany(pool, company)
        await withTransaction(pool, async (client) => {
          if (!(await revokeKeyPair(client, { companyId: id, memberId: null }))) {
            throw new Problem('key_pair_unknown', { errors: `${name} has no live key pair.` })
          }
          await record(client, { company: { id, name } }, { side: 'company', id })
        })
        return { data: { companyId: id }, text: `Revoked the key pair of ${name} and all its tokens.` }
      },
    }),
    list: command({
      help: 'Lists a company’s current and earlier key pairs, without secrets.',
      act: null,
      options: { company },
      run: async ({ pool }, { company }) => {
        const { id } = await requireCompany(pool, company)
        const pairs = await listKeyPairs(pool, id)
        const data = pairs.map(({ state, ...pair }) => ({ ...pair, ...state }))
        const rows = pairs.map((pair) => [
          pair.id,
          pair.clientId,
          pair.state.state,
          pair.createdAt,
          pair.state.state === 'revoked' ? pair.state.revokedAt : null,
        ])
        return { data, text: table(['id', 'client_id', 'state', 'created', 'revoked'], rows) }
      },
    }),
  },
}

function making(help: string, make: typeof generateKeyPair): Command {
  return command({
    help,
    act: 'key_pair.generate',
    options: { company, member: optional('<id>', 'the owner or admin who acts (default: the owner)', uuid<MemberId>) },
    run: async ({ pool, secretKey }, { company, member }, record) => {
      const { id, name } = await requireCompany(pool, company)
      const memberId = member ?? (await getOwner(pool, id)).id
      const pair = await make(pool, await secretKey(), { companyId: id, memberId }, (client, { clientId }) =>
        record(client, { clientId, company: { id, name } }, { side: 'company', id }),
      )
      return shownOnce(pair)
    },
  })
}

function shownOnce(data: NewKeyPair): Answer {
  return {
    data,
    text: list({ client_id: data.clientId, client_secret: data.clientSecret }),
    note: 'The client secret is shown only this once and cannot be had again: hand it over safely now.',
  }
}
