import type {
  PatientAccounting as AccountedPatient,
  OrganizationPage,
  PatientDisclosureEntry,
  PatientName,
} from '@bridgework/contract/portal'
import { Button, Group, Text, TextInput } from '@mantine/core'
import { IconDownload, IconPrinter } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { call } from '../../../api/call.ts'
import { useSession } from '../../../api/session.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { downloadCsv } from '../../../ui/download.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'
import { datasetTitle } from '../access/dataset-title.ts'
import { PatientSearch } from './PatientSearch.tsx'
import { type AccountingReport, PrintedAccounting } from './PrintedAccounting.tsx'
import { accountingCsv, rowKey } from './patient-accounting.ts'

/**
 * Which vendors received something of one patient, and when. The patient's number is in no address and is not kept. `asked`: a patient that was
 * chosen elsewhere on the page.
 */
export function PatientAccounting({
  organization,
  locationId,
  asked,
}: {
  organization: OrganizationPage
  locationId: string | undefined
  asked: PatientName | null
}) {
  const { user } = useSession()
  const [number, setNumber] = useState('')
  const [report, setReport] = useState<AccountingReport | null>(null)
  const endReport = useCallback(() => setReport(null), [])
  const accounting = useMutation({
    mutationFn: (patient_number: string) =>
      call('accountForPatient', { params: { organization_id: organization.id }, body: { patient_number } }),
    gcTime: 0,
  })
  const { data, variables: shownNumber = '', mutate } = accounting
  const section = useRef<HTMLDivElement>(null)
  const show = useCallback(
    (patient: PatientName) => {
      setNumber(patient.number)
      mutate(patient.number)
    },
    [mutate],
  )
  useEffect(() => {
    if (!asked) return
    show(asked)
    section.current?.scrollIntoView()
  }, [asked, show])
  return (
    <Section
      title="Disclosures of one patient"
      description="Which vendors received, counted or compared records of a patient in the last six years, and when. Find the patient by name, or enter the number in your practice management system. The history records each look-up, without the patient."
    >
      <div ref={section} />
      <PatientSearch organizationId={organization.id} locationId={locationId} onPatient={show} />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          accounting.mutate(number.trim())
        }}
      >
        <Group align="flex-end" gap="sm">
          <TextInput
            label="Patient number"
            value={number}
            onChange={(event) => setNumber(event.currentTarget.value)}
            autoComplete="off"
            maxLength={100}
            required
          />
          <Button type="submit" variant="default" loading={accounting.isPending}>
            Show disclosures
          </Button>
          {data !== undefined && data.data.length > 0 && (
            <Button
              variant="subtle"
              leftSection={<IconDownload size={16} aria-hidden />}
              onClick={() => downloadCsv('patient-disclosures', accountingCsv(data))}
            >
              Download this list as CSV
            </Button>
          )}
          {data !== undefined && data.locations > 0 && (
            <Button
              variant="subtle"
              leftSection={<IconPrinter size={16} aria-hidden />}
              onClick={() =>
                setReport({ accounting: data, organization, patientNumber: shownNumber, printedBy: user.name })
              }
            >
              Print
            </Button>
          )}
        </Group>
      </form>
      <ErrorNote error={accounting.error} />
      {data !== undefined && (
        <>
          <Text size="sm" role="status" my="sm">
            {summaryOf(data)}
          </Text>
          {data.data.length > 0 && (
            <DataTable caption="Disclosures of the patient" rows={data.data} rowKey={rowKey} columns={columns} />
          )}
        </>
      )}
      {report && <PrintedAccounting report={report} onDone={endReport} />}
    </Section>
  )
}

function summaryOf({ locations, patients, data }: AccountedPatient): string {
  if (locations === 0) return 'No location has a patient with this number.'
  const who = patients.join('; ')
  if (data.length === 0) return `${who}: no vendor received anything of this patient.`
  const count = data.reduce((total, each) => total + each.count, 0)
  return `${who}: ${formatCount(count)} ${count === 1 ? 'disclosure' : 'disclosures'}.`
}

const columns = [
  {
    header: 'Vendor',
    cell: ({ recipient, postal_address }: PatientDisclosureEntry) => (
      <>
        {recipient}
        <Text size="xs" c="dimmed">
          {postal_address ?? 'address not known'}
        </Text>
      </>
    ),
  },
  { header: 'Purpose', cell: ({ purpose }: PatientDisclosureEntry) => purpose ?? 'not stated' },
  { header: 'Location', cell: ({ location_name }: PatientDisclosureEntry) => location_name },
  { header: 'Records', cell: ({ dataset }: PatientDisclosureEntry) => datasetTitle(dataset) },
  { header: 'How', cell: ({ kind }: PatientDisclosureEntry) => kind },
  { header: 'Times', cell: ({ count }: PatientDisclosureEntry) => formatCount(count) },
  { header: 'First', cell: ({ first_at }: PatientDisclosureEntry) => <When at={first_at} /> },
  { header: 'Last', cell: ({ last_at }: PatientDisclosureEntry) => <When at={last_at} /> },
]
