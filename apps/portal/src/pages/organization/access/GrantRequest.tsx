import type { AccessRequest, OrganizationPage, PortalBodies } from '@bridgework/contract/portal'
import { Button, Checkbox, Group, Modal, MultiSelect, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'

/** Grants what a vendor asked for, or less of it. Nothing is granted before the button is pressed. */
export function GrantRequest({
  organizationId,
  request,
  datasets,
  onClose,
}: {
  organizationId: string
  request: AccessRequest
  datasets: OrganizationPage['datasets']
  onClose: () => void
}) {
  const params = { organization_id: organizationId, request_id: request.id }
  const grant = useAct('grantVendorRequest')
  const { data: vendor } = useQuery(
    read('getVendor', { params: { organization_id: organizationId, company_id: request.company_id } }),
  )
  const [chosen, setChosen] = useState(request.datasets)
  const [where, setWhere] = useState(request.locations === null ? 'all' : 'some')
  const [locations, setLocations] = useState<string[]>([])
  const [message, setMessage] = useState('')
  const [endsOn, setEndsOn] = useState('')
  const asked = datasets.filter(({ dataset }) => request.datasets.includes(dataset))
  const ofPatients = asked.filter(({ dataset, has_patient_data }) => has_patient_data && chosen.includes(dataset))
  const isComplete = chosen.length > 0 && (where === 'all' || locations.length > 0)
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Grant ${request.company_name} access?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!grant.isPending}
      transitionProps={{ exitDuration: 0 }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          grant.mutate(
            {
              params,
              body: {
                datasets: chosen as PortalBodies['grantVendorRequest']['datasets'],
                location_ids: where === 'all' ? null : locations,
                ...(message.trim() !== '' && { message }),
                ...(endsOn !== '' && { ends_on: endsOn }),
              },
            },
            {
              onSuccess: () => {
                notifications.show({ message: `${request.company_name} has access.` })
                onClose()
              },
            },
          )
        }}
      >
        <Stack>
          <Checkbox.Group
            label="Datasets"
            description="Clear those that you do not want to grant."
            value={chosen}
            onChange={setChosen}
          >
            <Stack gap="xs" mt="xs">
              {asked.map(({ dataset, title }) => (
                <Checkbox key={dataset} value={dataset} label={title} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Radio.Group label="Locations" value={where} onChange={setWhere}>
            <Stack gap="xs" mt="xs">
              <Radio value="all" label="All your locations, also future ones" />
              <Radio value="some" label="These locations" />
            </Stack>
          </Radio.Group>
          {request.locations !== null && (
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              It asked for: {request.locations}
            </Text>
          )}
          {where === 'some' && (
            <MultiSelect
              label="Which locations"
              data={vendor?.locations.map(({ id, name }) => ({ value: id, label: name })) ?? []}
              value={locations}
              onChange={setLocations}
              searchable
              limit={100}
              nothingFoundMessage="No location matches"
            />
          )}
          <TextInput
            label="Last day of access (optional)"
            description="Ends all that this vendor may read."
            type="date"
            value={endsOn}
            onChange={(event) => setEndsOn(event.currentTarget.value)}
          />
          <Textarea
            label="Message to the vendor (optional)"
            maxLength={500}
            autosize
            minRows={2}
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
          />
          <Text size="sm">
            {request.company_name} can copy every record of it, past ones included, and every change from now on.{' '}
            {ofPatients.length > 0
              ? `${ofPatients.map(({ title }) => title).join(', ')} hold data of patients.`
              : 'None of it is about a patient.'}{' '}
            You can change it at any time.
          </Text>
          <ErrorNote error={grant.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={grant.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={grant.isPending} disabled={!isComplete}>
              Grant access
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
