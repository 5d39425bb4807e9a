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
import { DatasetPreviewDrawer } from './DatasetPreviewDrawer.tsx'
import { type Access, planOf, type Step, turned } from './grant-plan.ts'

/** So many locations are seen at a glance; beyond, one searches. */
const fewLocations = 8
const rowsMax = 100

/** The matrix of locations and datasets as a draft: what is ticked is opened, and what is unticked closed, once one has read what that means. */
export function AccessEditor({
  organizationId,
  vendor,
  datasets,
  mayGrant,
}: {
  organizationId: string
  vendor: VendorPage
  datasets: OrganizationPage['datasets']
  mayGrant: boolean
}) {
  const now = accessOf(vendor)
  // Until something is ticked, the matrix follows what others change.
  const [draft, setDraft] = useState<Access | null>(null)
  const wanted = draft ?? now
  const [previewed, setPreviewed] = useState<string | null>(null)
  const [isReviewing, { open, close }] = useDisclosure()
  const grant = useAct('grantVendor')
  const revoke = useAct('revokeVendor')
  const found = useFound(vendor.locations, ({ name }) => name)
  const steps = planOf(
    now,
    wanted,
    vendor.locations.map(({ id }) => id),
    datasets.map(({ dataset }) => dataset),
  )
  const params = { organization_id: organizationId, company_id: vendor.company_id }
  const carryOut = async () => {
    for (const { act, location_ids, datasets } of steps) {
      // The names come from the practice's own list of datasets.
      const body = { location_ids, datasets } as Parameters<typeof grant.mutateAsync>[0]['body']
      await (act === 'grant' ? grant : revoke).mutateAsync({ params, body })
    }
    setDraft(null)
    notifications.show({ message: `What ${vendor.name} may read is changed.` })
  }
  return (
    <Section
      title="What it may read"
      description={
        mayGrant
          ? 'Tick what to open. Nothing changes before you have looked over the summary. A dataset’s name shows what it reveals.'
          : 'A dataset’s name shows what it reveals.'
      }
      actions={vendor.locations.length > fewLocations && <SearchField label="Search locations" />}
    >
      <AccessMatrix
        access={wanted}
        locations={found.slice(0, rowsMax)}
        datasets={datasets}
        disabled={!mayGrant}
        onTurn={(locationId, dataset) => setDraft(turned(wanted, locationId, dataset))}
        onPreview={setPreviewed}
      />
      {found.length > rowsMax && (
        <Text size="sm" c="dimmed">
          {rowsMax} of {found.length} locations are shown. Search for the others.
        </Text>
      )}
      {steps.length > 0 && (
        <Paper withBorder p="sm" className={classes.bar} role="region" aria-label="Changes that are not saved">
          <Group justify="space-between">
            <Text size="sm" fw={500} role="status">
              {counted(steps)}
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
        opened={isReviewing}
        onClose={close}
        title={`Change what ${vendor.name} may read?`}
        confirm={steps.some(({ act }) => act === 'grant') ? 'Grant access' : 'Revoke access'}
        color={steps.some(({ act }) => act === 'grant') ? 'indigo' : 'red.9'}
        onConfirm={carryOut}
      >
        <Summary steps={steps} vendor={vendor} datasets={datasets} />
      </ConfirmDialog>
      <DatasetPreviewDrawer organizationId={organizationId} dataset={previewed} onClose={() => setPreviewed(null)} />
    </Section>
  )
}

function Summary({
  steps,
  vendor,
  datasets,
}: {
  steps: readonly Step[]
  vendor: VendorPage
  datasets: OrganizationPage['datasets']
}) {
  const places = ({ location_ids }: Step) =>
    location_ids === 'all'
      ? 'all your locations, also those of the future'
      : list(vendor.locations.filter(({ id }) => location_ids.includes(id)).map(({ name }) => name))
  const opened = datasets.filter(({ dataset }) =>
    steps.some((step) => step.act === 'grant' && step.datasets.includes(dataset)),
  )
  return (
    <>
      <ul className={classes.summary}>
        {steps.map((step) => (
          <li key={`${step.act} ${step.location_ids} ${step.datasets}`}>
            <b>{step.act === 'grant' ? 'Open' : 'Close'}</b>{' '}
            {list(datasets.filter(({ dataset }) => step.datasets.includes(dataset)).map(({ title }) => title))} at{' '}
            {places(step)}.
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
      <p>Closing is in force at its next request. You can change this at any time.</p>
    </>
  )
}

function accessOf(vendor: VendorPage): Access {
  const all = new Set(vendor.all_locations)
  return {
    all,
    single: new Map(
      vendor.locations.map(({ id, datasets }) => [id, new Set(datasets.filter((dataset) => !all.has(dataset)))]),
    ),
  }
}

function counted(steps: readonly Step[]): string {
  const names = (act: Step['act']) => new Set(steps.filter((step) => step.act === act).flatMap((step) => step.datasets))
  const opened = names('grant').size
  const closed = names('revoke').size
  const parts = [opened > 0 && `${datasetCount(opened)} to open`, closed > 0 && `${datasetCount(closed)} to close`]
  return parts.filter(Boolean).join(', ')
}

function datasetCount(count: number): string {
  return count === 1 ? '1 dataset' : `${count} datasets`
}

function list(names: string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names)
}
