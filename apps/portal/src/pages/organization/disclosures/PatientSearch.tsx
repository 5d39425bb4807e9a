import type { FoundPatients, PatientName } from '@bridgework/contract/portal'
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { Patient } from './DisclosedRecords.tsx'

/** Finds patients of the practice by name. The name is in no address and is not kept. `locationId`: looks there alone. */
export function PatientSearch({
  organizationId,
  locationId,
  onPatient,
}: {
  organizationId: string
  locationId: string | undefined
  onPatient: (patient: PatientName) => void
}) {
  const [name, setName] = useState('')
  const search = useMutation({
    mutationFn: (text: string) =>
      call('findPatients', {
        params: { organization_id: organizationId },
        body: { name: text, ...(locationId && { location_id: locationId }) },
      }),
    gcTime: 0,
  })
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          search.mutate(name.trim())
        }}
      >
        <Group align="flex-end" gap="sm">
          <TextInput
            label="Patient name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            autoComplete="off"
            minLength={2}
            maxLength={100}
            required
          />
          <Button type="submit" variant="default" loading={search.isPending}>
            Find patient
          </Button>
        </Group>
      </form>
      <ErrorNote error={search.error} />
      {search.data && (
        <>
          <Text size="sm" role="status" my="sm">
            {summaryOf(search.data)}
          </Text>
          {search.data.data.length > 0 && (
            <DataTable
              caption="Patients found"
              rows={search.data.data}
              rowKey={({ number, name: found, date_of_birth }) => `${number} ${found} ${date_of_birth}`}
              columns={[
                { header: 'Patient', cell: (patient) => <Patient patient={patient} /> },
                { header: 'Locations', cell: ({ locations }) => locations.join(', ') },
                {
                  header: 'Disclosures',
                  isHidden: true,
                  cell: (patient) => (
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
              ]}
            />
          )}
        </>
      )}
    </>
  )
}

function summaryOf({ data, is_cut, searched, locations }: FoundPatients): string {
  const found = `${is_cut ? 'The first ' : ''}${data.length} ${data.length === 1 ? 'patient' : 'patients'} found.`
  if (searched === locations || is_cut) return is_cut ? `${found} Enter more of the name.` : found
  return `${found} ${searched} of ${locations} locations were searched. Choose a location above to search another one.`
}
