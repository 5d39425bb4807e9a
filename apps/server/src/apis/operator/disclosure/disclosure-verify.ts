import { stat } from 'node:fs/promises'
import { InvalidArgumentError } from '@bridgework/command-line'
import { openPublishedSeals } from '../../../modules/chain/published.ts'
import { readSealPublicKey, type SealPublicKey, sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { type Finding, type VerifyReport, verifyChain } from '../../../modules/chain/verify.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { Answer } from '../answer.ts'
import { command } from '../command-line.ts'
import { instant, optional, text } from '../option.ts'

/** Exit code of a chain that does not verify: neither a failure of the command nor a wrong use of it. */
const foundExitCode = 3
/** At most this many are told one by one. The others are counted. */
const toldMax = 100

export const verify = command({
  help: 'Checks that no disclosure and no act was changed since it was sealed. Exit code 3: something was found.',
  act: null,
  options: {
    from: optional('<time>', 'only seals made from then on', instant),
    to: optional('<time>', 'only seals made before then', instant),
    seals: optional('<folder>', 'compare with the seals that were published there', text),
    publicKey: optional('<key>', 'check signatures with this key instead of the one of the secret key file', publicKey),
  },
  run: async ({ pool, secretKey, progress }, { from = null, to = null, seals, publicKey: given }) => {
    const published = seals === undefined ? null : await openPublishedSeals(await requireFolder(seals))
    const told: Finding[] = []
    const report = await verifyChain(pool, {
      key: given ?? sealKeyOf(await secretKey()),
      now: new Date(),
      from,
      until: to,
      published,
      onFinding: (finding) => {
        if (told.length < toldMax) told.push(finding)
      },
      onProgress: (done, total) => progress.show(done, total, 'seals'),
    })
    progress.end()
    const answer: Answer = { data: { ...report, found: told }, text: describe(report, told) }
    if (report.findings > 0) answer.exitCode = foundExitCode
    else if (published === null)
      answer.note =
        'To find a chain that was written again with the key, compare with published seals: --seals <folder>.'
    return answer
  },
})

/** The key that seals are checked with, to be published where the operator cannot change it. */
export const key = command({
  help: 'Shows the public key that seals are checked with.',
  act: null,
  options: {},
  run: async ({ secretKey }) => {
    const { id, text } = sealKeyOf(await secretKey())
    return { data: { id, publicKey: text }, text }
  },
})

function describe(report: VerifyReport, told: readonly Finding[]): string {
  const { seals, from, to, disclosures, acts, practiceSeals, beforeChain, unsealed, findings } = report
  const count = (number: number) => number.toLocaleString('en-US')
  const looked =
    from === null || to === null
      ? 'There are no seals of that time.'
      : `Checked ${count(seals)} seals from ${from} to ${to}: ${count(disclosures)} disclosures, ${count(acts)} acts, ${count(practiceSeals)} practice seals.`
  const before = `${count(beforeChain)} entries are older than the chain: it proves what they said when they were sealed, not before.`
  const waiting = `${count(unsealed)} entries wait for their seal.`
  const dropped = report.dropped.map(
    (each) =>
      `${count(each.disclosures)} disclosures of ${each.month} were dropped at ${each.droppedAt}, those up to seal ${each.seal} wholly.`,
  )
  const outcome =
    findings === 0
      ? ['Nothing was changed, removed, added or moved since it was sealed.']
      : [
          `Found ${count(findings)} problems:`,
          ...told.map(({ seal, text }) => `  ${seal === null ? 'end' : `seal ${seal}`}: ${text}`),
          ...(findings > told.length ? [`  and ${count(findings - told.length)} more`] : []),
        ]
  return [
    looked,
    ...dropped,
    ...(beforeChain > 0 ? [before] : []),
    ...(unsealed > 0 ? [waiting] : []),
    ...outcome,
  ].join('\n')
}

async function requireFolder(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder)
    throw new Problem('field_invalid', {
      errors: `There is no folder ${path}. Name the folder of the published seals.`,
    })
  return path
}

function publicKey(value: string): SealPublicKey {
  const key = readSealPublicKey(value)
  if (!key) throw new InvalidArgumentError('must be a public key, as "disclosure key" shows it.')
  return key
}
