import type { OrganizationPage, VendorPage } from '@bridgework/contract/portal'
import { Button, Group, Paper, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useMemo, useState } from 'react'
import { PortalError } from '../../../api/call.ts'
import { useAct } from '../../../api/query.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { locale } from '../../../ui/format/locale.ts'
import { Section } from '../../../ui/Section.tsx'
import { useDraft } from '../../../ui/state/draft.ts'
import { useFound } from '../../../ui/state/found.ts'
import classes from './AccessEditor.module.css'
import { AccessMatrix } from './AccessMatrix.tsx'
import { AccessSummary, aboutNotes, counted } from './AccessSummary.tsx'
import {
  type Access,
  accessOf,
  bodyOf,
  type Cells,
  type Change,
  changesOf,
  notesOf,
  withCells,
} from './access-draft.ts'
import { bodyOfTerms, type Terms } from './access-terms.ts'
import { DatasetPreviewDrawer } from './DatasetPreviewDrawer.tsx'

/** So many locations are seen at a glance; beyond, one searches. */
const fewLocations = 8

/** What a person reviews before it is saved: the changes, and the access that they start from. */
type Review = { changes: Change[]; vendor: VendorPage; wanted: Access }

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
  // Until something is ticked, the matrix follows what others change.
  const [draft, setDraft] = useDraft<ReturnType<typeof bodyOf>>(`access ${organizationId} ${vendor.company_id}`)
  const sorted = useMemo(() => vendor.locations.toSorted(byName), [vendor.locations])
  const { wanted, locationIds, changes, changesTo } = useMemo(() => {
    const locationIds = vendor.locations.map(({ id }) => id)
    const now = accessOf(vendor)
    const names = datasets.flatMap(({ dataset, has_notes }) => (has_notes ? [dataset, notesOf(dataset)] : [dataset]))
    const changesTo = (wanted: Access) => changesOf(now, wanted, locationIds, names)
    // What a draft says of a location that is gone is left out.
    const wanted = draft ? withCells(accessOf(draft), { at: null, names: [] }, false, locationIds) : now
    return { wanted, locationIds, changes: changesTo(wanted), changesTo }
  }, [vendor, datasets, draft])
  const [previewed, setPreviewed] = useState<string | null>(null)
  // What is confirmed is what was read: the review keeps what it showed when it was opened, whatever others change meanwhile.
  const now: Review = { changes, vendor, wanted }
  const [review, setReview] = useState<Review | null>(null)
  const close = () => setReview(null)
  const change = useAct('changeVendorAccess')
  const found = useFound(sorted, ({ id, name }) => `${name} ${id}`)
  const [grants, revokes] = (['open', 'close'] as const).map((wanted) =>
    review?.changes.some(({ act }) => act === wanted),
  )
  const onChange = (cells: Cells, isOpened: boolean) => {
    // A review that ended because others made the same change is over.
    close()
    const next = withCells(wanted, cells, isOpened, locationIds)
    setDraft(changesTo(next).length > 0 ? bodyOf(next) : null)
  }
  const { reset: forgetRefusal } = change
  const isRefused = change.error instanceof PortalError && change.error.status === 409
  const isOutdated = review !== null && review.vendor.access_version !== vendor.access_version
  useEffect(() => {
    // After a refusal the person reviews what is in force now.
    if (!isRefused || !isOutdated) return
    setReview({ changes, vendor, wanted })
    forgetRefusal()
  }, [isRefused, isOutdated, changes, vendor, wanted, forgetRefusal])
  const save = async () => {
    if (review === null) return
    const params = { organization_id: organizationId, company_id: vendor.company_id }
    await change.mutateAsync({
      params,
      body: { access_version: review.vendor.access_version, ...bodyOf(review.wanted), ...bodyOfTerms(terms) },
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
      actions={vendor.locations.length > fewLocations && <SearchField label="Search locations by name or id" />}
    >
      {found.length === 0 ? (
        <Text size="sm">No location matches the search.</Text>
      ) : (
        <AccessMatrix
          access={wanted}
          locations={found}
          isFiltered={found.length < vendor.locations.length}
          datasets={datasets}
          disabled={!mayGrant}
          onChange={onChange}
          onPreview={setPreviewed}
        />
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
              <Button onClick={() => setReview(now)}>Review changes</Button>
            </Group>
          </Group>
        </Paper>
      )}
      <ConfirmDialog
        opened={review !== null && review.changes.length > 0}
        onClose={close}
        followsPage
        title={`Change what ${vendor.name} may read?`}
        confirm={grants && revokes ? 'Change access' : grants ? 'Grant access' : 'Revoke access'}
        color={revokes ? 'red.9' : 'indigo'}
        onConfirm={save}
      >
        {review && <AccessSummary changes={review.changes} vendor={review.vendor} datasets={datasets} />}
      </ConfirmDialog>
      <DatasetPreviewDrawer organizationId={organizationId} dataset={previewed} onClose={() => setPreviewed(null)} />
    </Section>
  )
}

const { compare } = new Intl.Collator(locale, { numeric: true })

function byName(one: VendorPage['locations'][number], other: VendorPage['locations'][number]): number {
  return compare(one.name, other.name) || compare(one.id, other.id)
}
