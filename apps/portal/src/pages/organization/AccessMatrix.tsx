import type { OrganizationPage, VendorPage } from '@bridgework/contract/portal'
import { Anchor, Checkbox, Table, Text, VisuallyHidden } from '@mantine/core'
import { IconUserHeart } from '@tabler/icons-react'
import classes from './AccessEditor.module.css'
import { type Access, isOpen } from './access-draft.ts'

/** Locations down, datasets across; the first line is for all locations, with every future one. */
export function AccessMatrix({
  access,
  locations,
  datasets,
  disabled,
  onTurn,
  onPreview,
}: {
  access: Access
  locations: VendorPage['locations']
  datasets: OrganizationPage['datasets']
  disabled: boolean
  onTurn: (locationId: string | null, dataset: string) => void
  onPreview: (dataset: string) => void
}) {
  return (
    <Table.ScrollContainer minWidth={680} type="native">
      <Table className={classes.table} verticalSpacing="xs">
        <caption className={classes.caption}>
          <VisuallyHidden>Datasets that the vendor may read at each location</VisuallyHidden>
        </caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Location</Table.Th>
            {datasets.map(({ dataset, title, has_patient_data }) => (
              <Table.Th scope="col" key={dataset}>
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  fw={600}
                  onClick={() => onPreview(dataset)}
                  aria-label={`What ${title} reveals${has_patient_data ? ' (patient data)' : ''}`}
                >
                  {title}
                </Anchor>
                {has_patient_data && (
                  <Text size="xs" c="dimmed" fw={400} aria-hidden>
                    <IconUserHeart size={12} aria-hidden /> patient data
                  </Text>
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th scope="row">
              All locations
              <Text size="xs" c="dimmed" fw={400}>
                also future ones
              </Text>
            </Table.Th>
            {datasets.map(({ dataset, title }) => (
              <Table.Td key={dataset}>
                <Checkbox
                  className={classes.box}
                  aria-label={`${title} at all locations, also future ones`}
                  checked={access.all.has(dataset)}
                  disabled={disabled}
                  onChange={() => onTurn(null, dataset)}
                />
              </Table.Td>
            ))}
          </Table.Tr>
          {locations.map(({ id, name }) => (
            <Table.Tr key={id}>
              <Table.Th scope="row" fw={500}>
                {name}
              </Table.Th>
              {datasets.map(({ dataset, title }) => (
                <Table.Td key={dataset}>
                  <Checkbox
                    className={classes.box}
                    aria-label={`${title} at ${name}`}
                    checked={isOpen(access, id, dataset)}
                    disabled={disabled}
                    onChange={() => onTurn(id, dataset)}
                  />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
