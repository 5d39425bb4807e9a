import type { OrganizationPage, VendorPage } from '@bridgework/contract/portal'
import { formatCount, locale } from '../../../ui/format/locale.ts'
import classes from './AccessEditor.module.css'
import { type Change, datasetOfNotes, notesOf } from './access-draft.ts'

/** What one must know of notes before granting them. */
export const aboutNotes = 'Notes are free text that your staff wrote. They may say anything about a patient.'

/** What will change, in sentences, and what that means for the vendor. */
export function AccessSummary({
  changes,
  vendor,
  datasets,
}: {
  changes: readonly Change[]
  vendor: VendorPage
  datasets: OrganizationPage['datasets']
}) {
  const names = new Set(changes.flatMap((change) => (change.act === 'open' ? change.datasets : [])))
  const opened = datasets.filter(({ dataset }) => names.has(dataset) || names.has(notesOf(dataset)))
  const hasNotes = [...names].some(isNotes)
  const ofPatients = opened.filter(({ has_patient_data }) => has_patient_data).map(({ title }) => title)
  const titles = (names: readonly string[]) =>
    list(
      datasets.flatMap(({ dataset, title }) => [
        ...(names.includes(dataset) ? [title] : []),
        ...(names.includes(notesOf(dataset)) ? [`the notes of ${title}`] : []),
      ]),
    )
  return (
    <>
      <ul className={classes.summary}>
        {changes.map((change) => (
          <li key={`${change.act} ${change.datasets}`}>
            <b>{change.act === 'open' ? 'Grant' : 'Revoke'}</b> {titles(change.datasets)} at{' '}
            {placesOf(change, vendor.locations)}.
          </li>
        ))}
      </ul>
      {opened.length > 0 && (
        <p>
          {vendor.name} can copy every record of it, past ones included, and every change from now on.{' '}
          {ofPatients.length > 0 ? <b>{list(ofPatients)} hold data of patients.</b> : 'None of it is about a patient.'}
        </p>
      )}
      {hasNotes && (
        <p>
          <b>{aboutNotes}</b> Grant them only to a vendor that needs them.
        </p>
      )}
      <p>All of it takes effect at once, at the vendor’s next request. You can change it at any time.</p>
    </>
  )
}

/** So many locations are named; more are counted. */
const namedMax = 20

function placesOf({ location_ids, future }: Change, locations: VendorPage['locations']): string {
  if (future && location_ids.length === locations.length) return 'all your locations, also those of the future'
  const ids = new Set(location_ids)
  const names = locations.filter(({ id }) => ids.has(id)).map(({ name }) => name)
  const named = names.length > namedMax ? [...names.slice(0, namedMax), `${names.length - namedMax} more`] : names
  return list([...named, ...(future ? ['future locations'] : [])])
}

/** How much will change: cells of the matrix, and how many datasets are granted and revoked. */
export function counted(changes: readonly Change[]): string {
  const cells = changes.reduce(
    (sum, { location_ids, future, datasets }) => sum + datasets.length * (location_ids.length + (future ? 1 : 0)),
    0,
  )
  const parts = (['open', 'close'] as const).flatMap((act) => {
    const names = [...new Set(changes.filter((change) => change.act === act).flatMap((change) => change.datasets))]
    const verb = act === 'open' ? 'grants' : 'revokes'
    const notes = names.filter(isNotes).length
    const datasets = names.length - notes
    return [
      ...(datasets > 0 ? [`${verb} ${datasetCount(datasets)}`] : []),
      ...(notes > 0 ? [`${verb} notes of ${datasetCount(notes)}`] : []),
    ]
  })
  return `${cells === 1 ? '1 change' : `${formatCount(cells)} changes`}: ${parts.join(', ')}`
}

function isNotes(name: string): boolean {
  return datasetOfNotes(name) !== null
}

function datasetCount(count: number): string {
  return count === 1 ? '1 dataset' : `${count} datasets`
}

function list(names: string[]): string {
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(names)
}
