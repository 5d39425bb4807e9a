import type { DisclosureEntry, PatientName } from '@bridgework/contract/portal'
import { Button, Drawer, Group, Loader, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { downloadCsv } from '../../../ui/download.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { When } from '../../../ui/When.tsx'
import { datasetTitle } from '../access/dataset-title.ts'

type Props = { organizationId: string; disclosure: DisclosureEntry; onPatient: (patient: PatientName) => void }

/** Which records a disclosure was about, and whose they are. Open while `disclosure` is not null. */
export function DisclosedRecordsDrawer({
  disclosure,
  onClose,
  ...props
}: Omit<Props, 'disclosure'> & { disclosure: DisclosureEntry | null; onClose: () => void }) {
  return (
    <Drawer
      opened={disclosure !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title="Records of a read"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {disclosure && <DisclosedRecords key={disclosure.id} disclosure={disclosure} {...props} />}
    </Drawer>
  )
}

function DisclosedRecords({ organizationId, disclosure, onPatient }: Props) {
  const [withPatients, setWithPatients] = useState(false)
  const params = { organization_id: organizationId, disclosure_id: disclosure.id }
  // Each page with patients is an act: read once, when the person asks for it.
  const list = useInfiniteQuery({
    queryKey: ['listDisclosedRecords', disclosure.id, withPatients],
    queryFn: ({ pageParam }) =>
      call('listDisclosedRecords', {
        params,
        body: { with_patients: withPatients, ...(pageParam && { after: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_after }) => next_after,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const file = useMutation({
    mutationFn: () => call('exportDisclosedRecords', { params }),
    onSuccess: (text) => downloadCsv(`disclosure-${disclosure.id}`, text),
    gcTime: 0,
  })
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const interval = list.data?.pages[0]?.interval
  return (
    <Stack>
      <Text size="sm">
        {disclosure.company_name} read {datasetTitle(disclosure.dataset)} of {disclosure.location_name}
        {', '}
        <When at={disclosure.disclosed_at} />.
      </Text>
      {interval && (
        <Text size="sm">
          The answer covered all ids above {interval.after_id} up to {interval.last_id}. These are the records of today
          with such an id.
        </Text>
      )}
      <Group>
        {!withPatients && (
          <Button variant="default" onClick={() => setWithPatients(true)}>
            Show patients
          </Button>
        )}
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          loading={file.isPending}
          onClick={() => file.mutate()}
        >
          Download with patients as CSV
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        Looking up patients is recorded in the history, without their names. A record is shown with the patient that it
        belongs to today.
      </Text>
      <ErrorNote error={list.error ?? file.error} />
      {list.isLoading && <Loader aria-label="Loading" />}
      {list.data && rows.length === 0 && <Text size="sm">The answer sent no record. It only stated a number.</Text>}
      {rows.length > 0 && (
        <DataTable
          caption="Records of the read"
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { header: 'Record id', cell: ({ id }) => id },
            ...(withPatients
              ? [
                  { header: 'Patient', cell: ({ patient }: (typeof rows)[number]) => <Patient patient={patient} /> },
                  {
                    header: 'Disclosures',
                    isHidden: true,
                    cell: ({ patient }: (typeof rows)[number]) =>
                      patient && (
                        <Button
                          size="compact-sm"
                          variant="default"
                          onClick={() => onPatient(patient)}
                          aria-label={`Show disclosures of ${patient.name}`}
                        >
                          Show disclosures
                        </Button>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {list.hasNextPage && (
        <Button variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
          Show more
        </Button>
      )}
      {rows.length > 0 && (
        <Text size="sm" c="dimmed" role="status">
          {formatCount(rows.length)} of {formatCount(disclosure.digested ?? disclosure.records)} records
        </Text>
      )}
    </Stack>
  )
}

/** A patient as the practice knows the person. */
export function Patient({ patient }: { patient: PatientName | null }) {
  if (!patient) return <Text size="sm">not a patient’s</Text>
  return (
    <>
      <Text size="sm">{patient.name}</Text>
      <Text size="xs" c="dimmed">
        {patient.date_of_birth && `born ${patient.date_of_birth} · `}number {patient.number}
      </Text>
    </>
  )
}
