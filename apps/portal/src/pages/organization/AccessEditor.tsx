import type { OrganizationPage, VendorPage } from '@bridgework/contract/portal'
import { Button, Group, Paper, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useAct } from '../../api/query.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { useFound } from '../../ui/found.ts'
import { SearchField } from '../../ui/SearchField.tsx'
import { Section } from '../../ui/Section.tsx'
import classes from './AccessEditor.module.css'
import { AccessMatrix } from './AccessMatrix.tsx'
import {
  type Access,
  accessOf,
  bodyOf,
  type Change,
  changesOf,
  datasetOfNotes,
  notesOf,
  turned,
} from './access-draft.ts'
import { bodyOfTerms, type Terms } from './access-terms.ts'
import { DatasetPreviewDrawer } from './DatasetPreviewDrawer.tsx'

const aboutNotes = 'Notes are free text that your staff wrote. They may say anything about a patient.'

/** So many locations are seen at a glance; beyond, one searches. */
const fewLocations = 8
const rowsMax = 100

/** The matrix of locations and datasets as a draft, which is saved as one act once it has been reviewed. */
export function AccessEditor({
  organizationId,
  vendor,
  datasets,
  mayGrant,
  terms,
}: {
  organizationId: string
  vendor: VendorPage
  /** Purpose and end of a first grant; null: they stay. */
  terms: Terms | null
  datasets: OrganizationPage['datasets']
  mayGrant: boolean
}) {
  const now = accessOf(vendor)
  // Until something is ticked, the matrix follows what others change.
  const [draft, setDraft] = useState<Access | null>(null)
  const wanted = draft ?? now
  const [previewed, setPreviewed] = useState<string | null>(null)
  const [isReviewing, { open, close }] = useDisclosure()
  const change = useAct('changeVendorAccess')
  const found = useFound(vendor.locations, ({ name }) => name)
  const locationIds = vendor.locations.map(({ id }) => id)
  const changes = changesOf(
    now,
    wanted,
    locationIds,
    datasets.flatMap(({ dataset, has_notes }) => (has_notes ? [dataset, notesOf(dataset)] : [dataset])),
  )
  const isWider = changes.some(({ act }) => act === 'open')
  const save = async () => {
    const params = { organization_id: organizationId, company_id: vendor.company_id }
    await change.mutateAsync({
      params,
      body: { access_version: vendor.access_version, ...bodyOf(wanted), ...bodyOfTerms(terms) },
    })
    setDraft(null)
    notifications.show({ message: `The access of ${vendor.name} is changed.` })
  }
  return (
    <Section
      title="What it may read"
      description={
        mayGrant
          ? `Tick what this vendor may read. Nothing changes before you have reviewed it. Click a dataset’s name to see what it reveals. ${aboutNotes}`
          : 'Click a dataset’s name to see what it reveals.'
      }
      actions={vendor.locations.length > fewLocations && <SearchField label="Search locations" />}
    >
      <AccessMatrix
        access={wanted}
        locations={found.slice(0, rowsMax)}
        datasets={datasets}
        disabled={!mayGrant}
        onTurn={(locationId, dataset) => {
          // A review that ended because others made the same change is over.
          close()
          setDraft(turned(wanted, locationId, dataset, locationIds))
        }}
        onPreview={setPreviewed}
      />
      {found.length > rowsMax && (
        <Text size="sm" c="dimmed">
          {rowsMax} of {found.length} locations are shown. Search for the others.
        </Text>
      )}
      {changes.length > 0 && (
        <Paper withBorder p="sm" className={classes.bar} role="region" aria-label="Changes that are not saved">
          <Group justify="space-between">
            <Text size="sm" fw={500} role="status">
              {counted(changes)}
            </Text>
            <Group gap="sm">
              <Button variant="default" onClick={() => setDraft(null)}>
                Undo
              </Button>
              <Button onClick={open}>Review changes</Button>
            </Group>
          </Group>
        </Paper>
      )}
      <ConfirmDialog
        opened={isReviewing && changes.length > 0}
        onClose={close}
        title={`Change what ${vendor.name} may read?`}
        confirm={isWider ? 'Grant access' : 'Revoke access'}
        color={isWider ? 'indigo' : 'red.9'}
        onConfirm={save}
      >
        <Summary changes={changes} vendor={vendor} datasets={datasets} />
      </ConfirmDialog>
      <DatasetPreviewDrawer organizationId={organizationId} dataset={previewed} onClose={() => setPreviewed(null)} />
    </Section>
  )
}

function Summary({
  changes,
  vendor,
  datasets,
}: {
  changes: readonly Change[]
  vendor: VendorPage
  datasets: OrganizationPage['datasets']
}) {
  const opened = datasets.filter(({ dataset }) =>
    changes.some((change) => change.act === 'open' && change.datasets.includes(dataset)),
  )
  const hasNotes = changes.some(({ act, datasets: names }) => act === 'open' && names.some(isNotes))
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
          {opened.some(({ has_patient_data }) => has_patient_data) ? (
            <b>
              {list(opened.filter(({ has_patient_data }) => has_patient_data).map(({ title }) => title))} hold data of
              patients.
            </b>
          ) : (
            'None of it is about a patient.'
          )}
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

function counted(changes: readonly Change[]): string {
  const parts = (['open', 'close'] as const).flatMap((act) => {
    const names = [...new Set(changes.filter((change) => change.act === act).flatMap((change) => change.datasets))]
    const notes = names.filter(isNotes).length
    const datasets = names.length - notes
    return [
      ...(datasets > 0 ? [`${datasetCount(datasets)} to ${act}`] : []),
      ...(notes > 0 ? [`notes of ${datasetCount(notes)} to ${act}`] : []),
    ]
  })
  return parts.join(', ')
}

function isNotes(name: string): boolean {
  return datasetOfNotes(name) !== null
}

function datasetCount(count: number): string {
  return count === 1 ? '1 dataset' : `${count} datasets`
}

function list(names: string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names)
}
