import type { Connector } from '../connector.ts'
import { noNotes, noZones } from '../connector.ts'
import { checkOpenDental } from './check.ts'
import type { DatabaseSettings } from './database/database-settings.ts'
import { adviceOnReplica } from './database/replica.ts'
import { assertQuiet, type Guard, openSession, type Session } from './database/session.ts'
import { readers } from './dataset-readers.ts'
import { type KeptSession, keepSession } from './kept-session.ts'
import { notToldBefore } from './records/mended-values.ts'
import { sourceCycle } from './source-cycle.ts'

/**
 * Reads an Open Dental database, never writes to it. `timeZone` is the zone that the settings give to every location;
 * `now` says which day it is, for what falls due on one. With `keepsSession` one session serves all cycles, so that one in which no table was written
 * to asks nothing, and `untilChanged` tells of a write within seconds; `end` closes it.
 */
export function openDentalConnector(
  settings: DatabaseSettings,
  timeZone: string | null,
  now: () => Date = () => new Date(),
  { keepsSession = false } = {},
): Connector {
  const datasets = [...readers.keys()]
  const keeper = keepsSession ? keepSession(settings, () => now().getTime()) : null
  const worthTelling = notToldBefore()
  let wasAdvised = false
  const connector: Connector = {
    name: 'open-dental',
    datasets,
    beginCycle: async (zones = noZones, notes = noNotes) => {
      const kept = (await keeper?.begin(notes)) ?? null
      const session = kept?.session ?? (await openSession(settings, notes))
      try {
        const sources = { configured: timeZone, set: zones, serverZone: session.serverZone }
        const guard = await readGuard(session, kept)
        // An update may have changed columns, which only a new session sees.
        if (kept?.guard && kept.guard.value.databaseVersion !== guard.databaseVersion) {
          await keeper?.drop()
          return await connector.beginCycle(zones, notes)
        }
        if (kept !== null) kept.guard = { value: guard, marks: kept.marks }
        const begun = sourceCycle(
          session,
          guard,
          sources,
          now(),
          kept === null || keeper === null ? null : { keeper, kept },
        )
        const advice = adviceOnReplica(session.replica)
        const isNew = advice !== null && !wasAdvised
        wasAdvised = advice !== null
        return {
          ...begun,
          takeMended: () => worthTelling(session.database.mended.take()),
          advice: () => (isNew ? advice : null),
        }
      } catch (error) {
        if (kept === null) await session.database.end()
        throw error
      }
    },
    ...(keeper !== null && { untilChanged: keeper.untilChanged, end: keeper.drop }),
    check: (zones = noZones, notes = noNotes) =>
      checkOpenDental(settings, { configured: timeZone, set: zones }, notes, async () => ({
        cycle: await connector.beginCycle(zones, notes),
        datasets,
      })),
  }
  return connector

  async function readGuard(session: Session, kept: KeptSession | null): Promise<Guard> {
    const known = kept?.guard ?? null
    const isKnown =
      known !== null && kept !== null && keeper?.watch.isWritten('preference', known.marks, kept.marks) === false
    return isKnown ? known.value : await assertQuiet(session.database)
  }
}
