import { readFile } from 'node:fs/promises'
import {
  acceptAgreement,
  agreementInForce,
  findAgreement,
  findCurrentAgreement,
  publishAgreement,
} from '../../../modules/credentials/agreement.ts'
import { requireCompany } from '../../../modules/directory/company.ts'
import { getOwner } from '../../../modules/membership/member.ts'
import { codeOf } from '../../../platform/errors/error-code.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import { list } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { optional, required, text, uuid, wholeNumber } from '../option.ts'

export const agreement: CommandGroup = {
  help: 'the developer API agreement',
  commands: {
    show: command({
      help: 'Shows the current agreement or another version, or whether a company has accepted it.',
      act: null,
      options: {
        version: optional('<number>', 'this version instead of the current one', wholeNumber(1_000_000)),
        company: optional('<id>', 'what this company accepted, without the text', uuid<CompanyId>),
      },
      run: async ({ pool }, { company: companyId, version }) => {
        if (companyId !== undefined) {
          await requireCompany(pool, companyId)
          const { current, ...data } = await agreementInForce(pool, companyId)
          const currentVersion = current?.version ?? null
          const text = list({
            'current version': currentVersion,
            'accepted version': data.acceptedVersion,
            accepted: data.acceptedAt,
            'in force': data.isInForce ? 'yes' : 'no: no key pair, no token, no read',
          })
          return { data: { currentVersion, ...data }, text }
        }
        const data = version === undefined ? await findCurrentAgreement(pool) : await findAgreement(pool, version)
        if (!data) throw new Problem('agreement_unknown')
        const head = list({
          version: data.version,
          published: data.publishedAt,
          'required from': data.enforcedAt,
        })
        return { data, text: `${head}\n\n${data.body.trimEnd()}` }
      },
    }),
    publish: command({
      help: 'Publishes the next version. Companies that accepted an older version keep access until the grace period ends.',
      act: 'operator.agreement_publish',
      options: {
        file: required('<path>', 'the text, as Markdown in UTF-8', text),
        graceDays: optional('<number>', 'days until it binds every company (default: at once)', wholeNumber(3650)),
      },
      run: async ({ pool }, { file, graceDays = 0 }, record) => {
        const body = await readText(file)
        const version = ((await findCurrentAgreement(pool))?.version ?? 0) + 1
        const enforcedAt = new Date(Date.now() + graceDays * 86_400_000)
        const { body: _, ...data } = await publishAgreement(pool, { version, body, enforcedAt }, (client) =>
          record(client, { version, graceDays }),
        )
        return { data, text: list({ version: data.version, 'required from': data.enforcedAt }) }
      },
    }),
    accept: command({
      help: 'Records that the owner of a company accepted the current agreement. Keep the proof yourself.',
      act: 'agreement.accept',
      options: { company: required('<id>', 'the company whose owner accepted', uuid<CompanyId>) },
      run: async ({ pool }, { company }, record) => {
        const { id, name } = await requireCompany(pool, company)
        const owner = await getOwner(pool, id)
        const current = await findCurrentAgreement(pool)
        if (!current) throw new Problem('agreement_unknown', { errors: 'No agreement has been published yet.' })
        const facts = { version: current.version, company: { id, name }, owner }
        const acceptance = { companyId: id, memberId: owner.id, version: current.version }
        await acceptAgreement(pool, acceptance, (client) => record(client, facts, { side: 'company', id }))
        const data = acceptance
        const text = `Recorded that ${owner.name}, owner of ${name}, accepted version ${current.version}.`
        return { data, text, note: 'This is your word for it: nothing was asked of the owner here. Keep the proof.' }
      },
    }),
  },
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path)
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    const reason = error instanceof TypeError ? 'not UTF-8' : codeOf(error)
    throw new Problem('field_invalid', { errors: `Cannot read the file ${path} (${reason}).` })
  }
}
