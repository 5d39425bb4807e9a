import { Alert, Badge, Drawer, Loader, Stack, Table, Text } from '@mantine/core'
import { IconUserHeart } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../../api/query.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { datasetTitle } from './dataset-title.ts'

/** What a dataset contains: each attribute with an invented example. Open while `dataset` is not null. */
export function DatasetPreviewDrawer({
  organizationId,
  dataset,
  onClose,
}: {
  organizationId: string
  dataset: string | null
  onClose: () => void
}) {
  return (
    <Drawer
      opened={dataset !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title={dataset && `Data in ${datasetTitle(dataset).toLowerCase()}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {dataset && <Preview organizationId={organizationId} dataset={dataset} />}
    </Drawer>
  )
}

function Preview({ organizationId, dataset }: { organizationId: string; dataset: string }) {
  const { data: preview, error } = useQuery(
    read('previewDataset', { params: { organization_id: organizationId, dataset } }),
  )
  if (error) return <ErrorNote error={error} />
  if (!preview) return <Loader aria-label="Loading" />
  return (
    <Stack>
      <Text size="sm">{preview.description}</Text>
      {preview.has_patient_data && (
        <Alert color="orange" icon={<IconUserHeart aria-hidden />}>
          <Text size="sm" c="bright">
            Contains patient data (protected health information). Your agreement with the vendor must allow this.
          </Text>
        </Alert>
      )}
      <Badge variant="default" tt="none">
        {formatCount(preview.records)} {preview.records === 1 ? 'record' : 'records'} in your practice
      </Badge>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Attribute</Table.Th>
            <Table.Th scope="col">Invented example</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {preview.attributes.map(({ name, description, example }) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Text size="sm" fw={500}>
                  {name}
                </Text>
                <Text size="xs" c="dimmed">
                  {description}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {example}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}
