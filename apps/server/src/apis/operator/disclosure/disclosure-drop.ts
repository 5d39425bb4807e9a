import { InvalidArgumentError } from '@bridgework/command-line'
import { type DroppableMonth, dropMonth, requireDroppable } from '../../../modules/chain/drop-month.ts'
import { sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { openSession } from '../../../platform/database/session.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { command } from '../command-line.ts'
import { optional, required } from '../option.ts'

export const dropMonthCommand = command({
  help: 'Drops the disclosures of the oldest month, which must have ended six years ago or earlier. What is left verifies on, and "disclosure verify" says what was dropped and when.',
  act: 'disclosure.drop_month',
  options: {
    month: required('<month>', 'the month (UTC), like 2019-03', month),
    confirm: optional('<month>', 'the month once more, instead of typing it when asked', month),
  },
  run: async (context, { month: name, confirm }, record) => {
    const { pool, ownerUrl, progress } = context
    const key = sealKeyOf(await context.secretKey())
    const plan = describe(await requireDroppable(pool, name, new Date()))
    if (confirm === undefined && context.ask) context.say(`${plan}\n`)
    const typed = confirm ?? (await context.ask?.(`Type the month to drop it: `))
    if (typed !== name) {
      const errors =
        typed === undefined
          ? `${plan}\n\nNothing was dropped. To drop it, repeat the command with --confirm ${name}.`
          : `The month is ${name}, not "${typed}". Nothing was dropped.`
      throw new Problem('confirmation_required', { errors })
    }
    const owner = await openSession(ownerUrl, { application_name: 'bridgework operator' })
    try {
      const onProgress = (done: number, total: number) => progress.show(done, total, 'seals')
      const { drop } = await dropMonth(owner, { month: name, key, now: new Date(), record, onProgress })
      const { droppedAt, disclosures, sealNumber: seal, sealSha256 } = drop
      return {
        data: { month: name, droppedAt, disclosures, seal, sealSha256 },
        text: `Dropped ${count(disclosures)} disclosures of ${name}. The disclosures of all seals up to ${seal} are gone; the seals stay.`,
      }
    } finally {
      progress.end()
      await owner.end()
    }
  },
})

function describe({ month, tables, disclosures, locations, firstAt, lastAt }: DroppableMonth): string {
  const what = `Dropping ${month} deletes for good ${tables.join(' and ')}`
  if (disclosures === 0 || firstAt === null || lastAt === null) return `${what}, which are empty.`
  return `${what}: ${count(disclosures)} disclosures of ${count(locations)} locations, from ${firstAt.toISOString()} to ${lastAt.toISOString()}.\nExports for practices can no longer contain them. Seals, acts and grants stay.`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

function month(value: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(value)) throw new InvalidArgumentError('must be a month like 2019-03.')
  return value
}
