import type { GrantEntry } from '@bridgework/contract/portal'
import { locale } from '../../../ui/format/locale.ts'
import { titleWithNotes } from './dataset-title.ts'

/** One change of a vendor's access: when, by whom, and what it granted and revoked, in sentences. */
export type GrantChange = { at: string; by: string; lines: string[]; purpose: string | null }

/** An act is stored by several statements, each at an instant of its own. */
const oneActMs = 2_000

type Act = { act: 'Granted' | 'Revoked'; at: string; by: string; grant: GrantEntry }

/** The history of a vendor's grants as the changes that people made, the latest first. */
export function changesOfGrants(history: readonly GrantEntry[]): GrantChange[] {
  const acts = history
    .flatMap((grant): Act[] => [
      { act: 'Granted', at: grant.granted_at, by: grant.granted_by, grant },
      ...(grant.revoked_at === null
        ? []
        : [{ act: 'Revoked' as const, at: grant.revoked_at, by: grant.revoked_by ?? '', grant }]),
    ])
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
  const changes: Act[][] = []
  for (const act of acts) {
    const last = changes.at(-1)
    const newest = last?.[0]
    if (last && newest && newest.by === act.by && Date.parse(newest.at) - Date.parse(act.at) <= oneActMs) last.push(act)
    else changes.push([act])
  }
  return changes.map((own) => {
    const first = own[0] as Act
    return {
      at: first.at,
      by: first.by,
      lines: (['Granted', 'Revoked'] as const).flatMap((act) => linesOf(act, own)),
      purpose: own.find(({ act, grant }) => act === 'Granted' && grant.purpose !== null)?.grant.purpose ?? null,
    }
  })
}

/** "Granted Patients and Treatments at South and North": datasets with the same places share a line. */
function linesOf(act: Act['act'], acts: readonly Act[]): string[] {
  const own = acts.filter((each) => each.act === act).map(({ grant }) => grant)
  const placesOf = Map.groupBy(own, titleWithNotes)
  const byPlaces = Map.groupBy([...placesOf], ([, grants]) =>
    list([...new Set(grants.map(({ location_name }) => location_name ?? 'all locations, also future ones'))].sort()),
  )
  return [...byPlaces].map(([places, titles]) => `${act} ${list(titles.map(([title]) => title).sort())} at ${places}.`)
}

function list(names: string[]): string {
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(names)
}
