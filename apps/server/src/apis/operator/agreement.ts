import { readFile } from 'node:fs/promises'
import {
  acceptAgreement,
  agreementInForce,
  findAgreement,
  findCurrentAgreement,
  publishAgreement,
} from '../../modules/credentials/agreement.ts'
import { requireCompany } from '../../modules/directory/company.ts'
import { getOwner } from '../../modules/membership/member.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { list } from './answer.ts'
import type { Noun } from './command-line.ts'

export const agreement: Noun = {
  help: 'the developer API agreement',
  verbs: {
    show: {
      help: 'The text of the current agreement, or of a version, or where a company stands with it.',
      options: {
        version: { value: '<number>', help: 'this version in place of the current one' },
        company: { value: '<id>', help: 'what this company accepted, without the text' },
      },
      run: async ({ pool }, given) => {
        const companyId = given.findUuid<CompanyId>('company')
        if (companyId !== undefined) {
          await requireCompany(pool, companyId)
          const { current, ...data } = await agreementInForce(pool, companyId)
          const version = current?.version ?? null
          const text = list({
            'current version': version,
            'accepted version': data.acceptedVersion,
            accepted: data.acceptedAt,
            'in force': data.isInForce ? 'yes' : 'no: no key pair, no token, no read',
          })
          return { data: { currentVersion: version, ...data }, text }
        }
        const version = given.has('version') ? given.wholeNumber('version', 0, 1_000_000) : null
        const data = version === null ? await findCurrentAgreement(pool) : await findAgreement(pool, version)
        if (!data) throw new Problem('agreement_unknown')
        const head = list({
          version: data.version,
          published: data.publishedAt,
          'binds everyone from': data.enforcedAt,
        })
        return { data, text: `${head}\n\n${data.body.trimEnd()}` }
      },
    },
    publish: {
      help: 'Publishes the next version. Companies that accepted an older one go on reading until the grace period ends.',
      options: {
        file: { value: '<path>', isRequired: true, help: 'the text, as Markdown in UTF-8' },
        'grace-days': { value: '<number>', help: 'days until it binds everyone; without it, it binds at once' },
      },
      run: async ({ pool }, given) => {
        const body = await readText(given.text('file'))
        const graceDays = given.has('grace-days') ? given.wholeNumber('grace-days', 0, 3650) : 0
        const version = ((await findCurrentAgreement(pool))?.version ?? 0) + 1
        const enforcedAt = new Date(Date.now() + graceDays * 86_400_000)
        const { body: _, ...data } = await publishAgreement(pool, { version, body, enforcedAt })
        return { data, text: list({ version: data.version, 'binds everyone from': data.enforcedAt }) }
      },
    },
    accept: {
      help: 'Records, on your word, that the owner of a company accepted the current agreement: keep the proof yourself.',
      options: { company: { value: '<id>', isRequired: true, help: 'the company whose owner accepted' } },
      run: async ({ pool }, given) => {
        const { id, name } = await requireCompany(pool, given.uuid<CompanyId>('company'))
        const owner = await getOwner(pool, id)
        const current = await findCurrentAgreement(pool)
        if (!current) throw new Problem('agreement_unknown', { errors: 'No agreement has been published yet.' })
        await acceptAgreement(pool, { companyId: id, memberId: owner.id, version: current.version })
        const data = { companyId: id, memberId: owner.id, version: current.version }
        const text = `Recorded that ${owner.name}, owner of ${name}, accepted version ${current.version}.`
        return { data, text, note: 'This is your word for it: nothing was asked of the owner here. Keep the proof.' }
      },
    },
  },
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path)
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'not UTF-8'
    throw new Problem('field_invalid', { errors: `Cannot read the file ${path} (${reason}).` })
  }
}
