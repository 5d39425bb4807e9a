import { countHeld, eraseTenant, type Held, type Leaving } from '../../../modules/leaving/erase.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { RecordAct } from '../act.ts'
import { type Answer, table } from '../answer.ts'
import type { Context } from '../context.ts'

/**
 * Says what goes and what stays, has the person type the exact name, and erases the tenant. `confirmed`: the name, where it was given on the
 * command line. Throws a Problem, and erases nothing, without the right name.
 */
export async function eraseFromCommandLine(
  context: Context,
  leaving: Leaving,
  name: string,
  confirmed: string | undefined,
  record: RecordAct<'company.erase' | 'organization.erase'>,
): Promise<Answer> {
  const { pool, progress, signal } = context
  const before = await countHeld(pool, leaving)
  const going = before.filter(({ isKept }) => !isKept)
  const plan = `Erasing the ${leaving.side} ${name} deletes for good:\n${tableOf(going)}\n\nThese rows stay:\n${tableOf(before.filter(({ isKept }) => isKept))}`
  if (confirmed === undefined && context.ask) context.say(`${plan}\n`)
  const typed = confirmed ?? (await context.ask?.(`Type the name of the ${leaving.side} to erase it: `))
  if (typed !== name) {
    const errors =
      typed === undefined
        ? `${plan}\n\nNothing was erased. To erase it, repeat the command with --confirm "${name}".`
        : `The name is "${name}", not "${typed}". Nothing was erased.`
    throw new Problem('confirmation_required', { errors })
  }
  const total = going.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  const onDeleted = (rows: number) => {
    done = Math.min(done + rows, total)
    progress.show(done, total, 'rows')
  }
  await eraseTenant({ pool, signal, onDeleted }, leaving, 'The operator of Bridgework', (client, name) =>
    record(client, { erased: { id: leaving.id, name } }, leaving),
  ).finally(progress.end)
  const kept = await countHeld(pool, leaving)
  const text = `${name} is erased: ${total.toLocaleString('en-US')} rows were deleted.\nThese rows stay:\n${tableOf(kept)}`
  return {
    data: { [leaving.side]: leaving.id, name, deleted: going.map(({ table, rows }) => ({ table, rows })), kept },
    text,
  }
}

function tableOf(held: readonly Held[]): string {
  const rows = held.map(({ table, rows, because }) => (because === null ? [table, rows] : [table, rows, because]))
  return table(['table', 'rows', ...(held.some(({ isKept }) => isKept) ? ['why'] : [])], rows)
}
