import {
  generateKeyPair,
  listKeyPairs,
  type NewKeyPair,
  regenerateKeyPair,
  revokeKeyPair,
} from '../../modules/credentials/key-pair.ts'
import { requireCompany } from '../../modules/directory/company.ts'
import { getOwner } from '../../modules/membership/member.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId } from '../../platform/identity/identity.ts'
import { type Answer, list, table } from './answer.ts'
import { type Command, type CommandGroup, command } from './command-line.ts'
import { optional, required, uuid } from './option.ts'

const company = required('<id>', 'the company', uuid<CompanyId>)

export const credential: CommandGroup = {
  help: 'key pairs of companies',
  commands: {
    generate: making('Makes a company’s key pair, in the name of its owner unless told otherwise.', generateKeyPair),
    regenerate: making(
      'Replaces a company’s key pair: the old one and its tokens are dead at once.',
      regenerateKeyPair,
    ),
    revoke: command({
      help: 'Ends a company’s key pair and its tokens at once, without a new one.',
      options: { company },
      run: async ({ pool }, { company }) => {
        const { id, name } = await requireCompany(pool, company)
        if (!(await revokeKeyPair(pool, { companyId: id, memberId: null }))) {
          throw new Problem('key_pair_unknown', { errors: `${name} has no live key pair.` })
        }
        return { data: { companyId: id }, text: `The key pair of ${name} and all its tokens are dead.` }
      },
    }),
    list: command({
      help: 'The key pairs that a company has and had, without secrets.',
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
    options: { company, member: optional('<id>', 'the owner or admin who acts (default: the owner)', uuid<MemberId>) },
    run: async ({ pool, secretKey }, { company, member }) => {
      const { id } = await requireCompany(pool, company)
      const memberId = member ?? (await getOwner(pool, id)).id
      return shownOnce(await make(pool, await secretKey(), { companyId: id, memberId }))
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
