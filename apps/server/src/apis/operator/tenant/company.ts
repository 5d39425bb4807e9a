import {
  closeCompany,
  listCompanies,
  requireCompany,
  resumeCompany,
  setCompanyVerified,
  suspendCompany,
} from '../../../modules/directory/company.ts'
import { createCompany } from '../../../modules/membership/create-tenant.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import type { RecordAct } from '../act.ts'
import { list, table } from '../answer.ts'
import { type Command, type CommandGroup, command } from '../command-line.ts'
import type { Context } from '../context.ts'
import { eraseFromCommandLine } from '../installation/leaving.ts'
import { optional, required, text, uuid } from '../option.ts'
import { inviteFromCommandLine, toEntry } from './invite.ts'

export const company: CommandGroup = {
  help: 'software vendors',
  commands: {
    create: command({
      help: 'Creates a vendor company and invites its owner by mail. The owner must accept the agreement before the company gets a key pair.',
      act: 'operator.company_create',
      options: {
        name: required('<text>', 'name of the company', text),
        ownerEmail: required('<address>', 'e-mail address of the account owner', text),
        ownerName: required('<text>', 'name of the account owner', text),
      },
      run: async (context, { name, ownerEmail, ownerName }, record) => {
        const data = await withTransaction(context.pool, async (client) => {
          const { company, owner } = await createCompany(client, {
            name,
            owner: { email: ownerEmail, name: ownerName },
          })
          const invitation = await inviteFromCommandLine(client, context, owner)
          await record(client, { made: company, owner }, { side: 'company', id: company.id })
          return { company, owner: toEntry(owner), invitation }
        })
        const text = list({
          company: data.company.id,
          name: data.company.name,
          owner: data.owner.id,
          email: data.owner.email,
          invitation: data.invitation,
        })
        return { data, text }
      },
    }),
    list: command({
      help: 'Lists every vendor company.',
      act: null,
      options: {},
      run: async ({ pool }) => {
        const data = await listCompanies(pool)
        const rows = data.map((each) => [each.id, each.name, each.state, each.createdAt, each.verifiedAt])
        return { data, text: table(['id', 'name', 'state', 'created', 'verified'], rows) }
      },
    }),
    suspend: changing(
      'operator.company_suspend',
      'Refuses the company’s tokens and gives it no new ones, from its next request on. Nothing is lost.',
      suspendCompany,
    ),
    resume: changing('operator.company_suspend', 'Ends a suspension.', resumeCompany),
    close: changing('operator.company_close', 'Closes a company for good: it cannot be resumed.', closeCompany),
    verify: command({
      help: 'Notes that you verified who a company is, so that practices find it. Check its legal name, website and contact first.',
      act: 'operator.company_verify',
      options: { company: required('<id>', 'the company', uuid<CompanyId>) },
      run: (context, { company }, record) => verify(context, company, 'The operator (command line)', record),
    }),
    unverify: command({
      help: 'Takes a verification back. Practices that granted the company something still see it; others no longer find it.',
      act: 'operator.company_verify',
      needsReason: true,
      options: { company: required('<id>', 'the company', uuid<CompanyId>) },
      run: (context, { company }, record) => verify(context, company, null, record),
    }),
    erase: command({
      help: 'Erases a vendor for good: keys, people and usage. What it read, its grants and its history stay, as the law requires. Shows both and asks for the name first. Repeat it after an interruption.',
      act: 'company.erase',
      options: {
        company: required('<id>', 'the company', uuid<CompanyId>),
        confirm: optional('<name>', 'the exact name, instead of typing it when asked', text),
      },
      run: async (context, { company: id, confirm }, record) => {
        const { name } = await requireCompany(context.pool, id)
        return eraseFromCommandLine(context, { side: 'company', id }, name, confirm, record)
      },
    }),
  },
}

async function verify(
  { pool }: Context,
  company: CompanyId,
  by: string | null,
  record: RecordAct<'operator.company_verify'>,
) {
  const data = await withTransaction(pool, async (client) => {
    const changed = await setCompanyVerified(client, company, by)
    await record(client, { company: changed, isVerified: by !== null }, { side: 'company', id: company })
    return changed
  })
  return { data, text: `${data.name} is ${by === null ? 'no longer verified' : 'verified'}.` }
}

function changing(
  act: 'operator.company_suspend' | 'operator.company_close',
  help: string,
  change: typeof suspendCompany,
): Command {
  return command({
    help,
    act,
    options: { company: required('<id>', 'the company', uuid<CompanyId>) },
    run: async ({ pool }, { company }, record) => {
      const data = await withTransaction(pool, async (client) => {
        const changed = await change(client, company)
        await record(client, { company: changed, state: changed.state }, { side: 'company', id: company })
        return changed
      })
      return { data, text: `${data.name} is ${data.state}.` }
    },
  })
}
