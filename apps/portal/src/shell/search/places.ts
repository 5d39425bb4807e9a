import type { FoundThing, Membership, Session } from '@bridgework/contract/portal'
import { call } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { isSandbox } from '../environment.ts'
import { homeOf, menuFor, sideNames } from '../menu.ts'

/** What the search leads to. `detail` tells it from others with the same label. */
export type Place = { group: string; label: string; detail?: string | undefined; to: string }

/** How many of each kind of name are offered: to see more is what the lists are for. */
const namesMax = 6

/** The pages of the membership whose menu is shown, and where else the person may go. */
export function placesOf({ memberships, through_provider }: Session, current: Membership | undefined): Place[] {
  const home = current && homeOf(current)
  const ofMenu = (current ? menuFor(current, isSandbox) : []).flatMap(({ heading, items }) =>
    items.map(({ label, path }) => ({
      group: t('Pages'),
      label: t(label),
      detail: heading === null ? undefined : t(heading),
      to: `${home}${path}`,
    })),
  )
  const isMember = current?.support_until === null
  return [
    ...ofMenu,
    ...(isMember ? [{ group: t('Pages'), label: t('Notices'), to: `${home}/notices` }] : []),
    ...(through_provider ? [] : [{ group: t('Pages'), label: t('Account and security'), to: '/account' }]),
    ...memberships
      .filter((each) => each !== current)
      .map((each) => ({
        group: t('Companies and practices'),
        label: each.name,
        detail: t(sideNames[each.side]),
        to: homeOf(each),
      })),
  ]
}

/** Those whose labels have every word of the text. */
export function matching(places: readonly Place[], text: string): Place[] {
  const words = text.toLowerCase().split(/\s+/)
  return places.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
}

/** Vendors, locations and, for operators, all that has a name, by a part of it. */
export async function findNames({ side, id }: Membership, search: string, signal: AbortSignal): Promise<Place[]> {
  const query = { search }
  if (side === 'operator') {
    const { data } = await call('findAnything', { query, signal })
    return data.map((found) => ({ ...ofFound(found), label: found.name, detail: found.detail ?? undefined }))
  }
  if (side === 'company') {
    const { data } = await call('listConnections', { params: { company_id: id }, query, signal })
    const locations = data.flatMap((each) =>
      each.locations.map((location) => ({ ...location, ...each, id: location.id })),
    )
    return locations.slice(0, namesMax).map(({ id: locationId, name, organization_name: detail }) => ({
      group: t('Locations'),
      label: name,
      detail,
      to: `/company/${id}/connections/${locationId}`,
    }))
  }
  const input = { params: { organization_id: id }, query, signal }
  const [vendors, locations] = await Promise.all([call('listVendors', input), call('listLocations', input)])
  return [
    ...vendors.data.slice(0, namesMax).map(({ company_id, name, verified_domain }) => ({
      group: t('Vendors'),
      label: name,
      detail: verified_domain ?? undefined,
      to: `/organization/${id}/vendors/${company_id}`,
    })),
    ...locations.data.slice(0, namesMax).map(({ id: locationId, name, address }) => ({
      group: t('Locations'),
      label: name,
      detail: address ?? undefined,
      to: `/organization/${id}/locations/${locationId}`,
    })),
  ]
}

function ofFound({ kind, id }: FoundThing): Pick<Place, 'group' | 'to'> {
  const [group, path] = foundIn[kind]
  return { group, to: `/operator/${path}/${id}` }
}

const foundIn: Record<FoundThing['kind'], readonly [group: string, path: string]> = {
  company: [t('Companies'), 'companies'],
  organization: [t('Practices'), 'organizations'],
  location: [t('Locations'), 'locations'],
  agent: [t('Agents'), 'agents'],
  person: [t('People'), 'people'],
}
