import type { DisclosureEntry, DisclosureGroup } from '@bridgework/contract/portal'
import { Button, Code, Group, Loader, Stack, Text } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { DataTable } from '../../../ui/DataTable.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageLink } from '../../../ui/links.tsx'
import { When } from '../../../ui/When.tsx'
import { titleWithNotes } from '../access/dataset-title.ts'
import { type DisclosureFilter, disclosuresQuery } from './disclosures.ts'
import { readInWords } from './read-in-words.ts'

type Props = { organizationId: string; filter: DisclosureFilter; onRecords: (entry: DisclosureEntry) => void }

/** What each vendor read on each day, in a sentence; its single reads when they are asked for. */
export function DisclosureDays({
  groups,
  today,
  ...props
}: Props & { groups: readonly DisclosureGroup[]; today: string }) {
  return (
    <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Reads by day and vendor">
      {groups.map((group) => (
        <VendorDay key={`${group.day} ${group.company_id}`} group={group} today={today} {...props} />
      ))}
    </Stack>
  )
}

function VendorDay({ group, today, ...props }: Props & { group: DisclosureGroup; today: string }) {
  const { organizationId } = props
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { company_id, company_name } = group
  const Shape = isOpen ? IconChevronUp : IconChevronDown
  return (
    <li>
      <Group gap="sm" align="flex-start">
        <Text size="sm" flex="1 1 16rem" miw={0} style={{ overflowWrap: 'anywhere' }}>
          <PageLink
            inherit
            underline="always"
            fw={500}
            to="/organization/$organization_id/vendors/$company_id"
            params={{ organization_id: organizationId, company_id }}
          >
            <bdi>{company_name}</bdi>
          </PageLink>{' '}
          {readInWords(group, today)}.
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          aria-expanded={isOpen}
          aria-controls={id}
          aria-label={`${isOpen ? 'Hide' : 'Show'} reads of ${company_name} on ${group.day}`}
          rightSection={<Shape size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Hide reads' : 'Show reads'}
        </Button>
      </Group>
      <div id={id}>{isOpen && <DayReads group={group} {...props} />}</div>
    </li>
  )
}

function DayReads({ group, organizationId, filter, onRecords }: Props & { group: DisclosureGroup }) {
  const { day, company_id } = group
  const list = useInfiniteQuery(disclosuresQuery(organizationId, { ...filter, company_id, from: day, to: day }))
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const records = {
    header: 'Which records',
    isHidden: true,
    cell: (entry: DisclosureEntry) => (
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => onRecords(entry)}
        aria-label={`Show records of the read ${entry.request_id}`}
      >
        Show records
      </Button>
    ),
  }
  return (
    <Stack gap="xs" py="xs">
      {list.isLoading && <Loader size="sm" aria-label="Loading" />}
      {rows.length > 0 && (
        <DataTable caption="Disclosures" rows={rows} rowKey={({ id }) => id} columns={[...columns, records]} />
      )}
      <ErrorNote error={list.error} />
      {list.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          onClick={() => list.fetchNextPage()}
          loading={list.isFetchingNextPage}
          style={{ alignSelf: 'flex-start' }}
        >
          Show more reads
        </Button>
      )}
      {rows.length > 0 && (
        <Text size="sm" c="dimmed" role="status">
          {formatCount(rows.length)} of {formatCount(group.reads)} reads
        </Text>
      )}
    </Stack>
  )
}

/** How many were sent; below it what the answer revealed of records without sending them. */
function recordsOf({ records, counted, digested }: DisclosureEntry) {
  return (
    <>
      {formatCount(records)}
      {counted !== null && (
        <Text size="xs" c="dimmed">
          counted: {formatCount(counted)}
        </Text>
      )}
      {digested !== null && (
        <Text size="xs" c="dimmed">
          compared: {formatCount(digested)}
        </Text>
      )}
    </>
  )
}

const columns = [
  { header: 'When', cell: ({ disclosed_at }: DisclosureEntry) => <When at={disclosed_at} /> },
  { header: 'Location', cell: ({ location_name }: DisclosureEntry) => <bdi>{location_name}</bdi> },
  { header: 'Dataset', cell: (entry: DisclosureEntry) => titleWithNotes(entry) },
  { header: 'Records', align: 'right' as const, cell: recordsOf },
  {
    header: 'Filters',
    cell: ({ filters }: DisclosureEntry) => (filters.length === 0 ? 'none' : filters.join(', ')),
  },
  {
    header: 'Address',
    cell: ({ ip, request_id }: DisclosureEntry) => (
      <>
        <Text size="sm">{ip}</Text>
        <Code>{request_id}</Code>
      </>
    ),
  },
]
