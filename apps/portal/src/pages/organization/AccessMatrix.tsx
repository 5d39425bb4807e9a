import type { OrganizationPage, VendorPage } from '@bridgework/contract/portal'
import { Anchor, Checkbox, Table, Text, VisuallyHidden } from '@mantine/core'
import { IconUserHeart } from '@tabler/icons-react'
import classes from './AccessEditor.module.css'
import { type Access, isOpen, notesOf } from './access-draft.ts'

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
            {datasets.map((dataset) => (
              <Cell
                key={dataset.dataset}
                dataset={dataset}
                where="all locations, also future ones"
                isOpen={(name) => access.all.has(name)}
                disabled={disabled}
                onTurn={(name) => onTurn(null, name)}
              />
            ))}
          </Table.Tr>
          {locations.map(({ id, name }) => (
            <Table.Tr key={id}>
              <Table.Th scope="row" fw={500}>
                {name}
              </Table.Th>
              {datasets.map((dataset) => (
                <Cell
                  key={dataset.dataset}
                  dataset={dataset}
                  where={name}
                  isOpen={(each) => isOpen(access, id, each)}
                  disabled={disabled}
                  onTurn={(each) => onTurn(id, each)}
                />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** A dataset at a place and, once it is ticked, its notes. */
function Cell({
  dataset: { dataset, title, has_notes },
  where,
  isOpen,
  disabled,
  onTurn,
}: {
  dataset: OrganizationPage['datasets'][number]
  where: string
  isOpen: (name: string) => boolean
  disabled: boolean
  onTurn: (name: string) => void
}) {
  return (
    <Table.Td>
      <Checkbox
        className={classes.box}
        aria-label={`${title} at ${where}`}
        checked={isOpen(dataset)}
        disabled={disabled}
        onChange={() => onTurn(dataset)}
      />
      {has_notes && isOpen(dataset) && (
        <Checkbox
          className={classes.notes}
          size="xs"
          label="Notes"
          aria-label={`Notes of ${title} at ${where}`}
          checked={isOpen(notesOf(dataset))}
          disabled={disabled}
          onChange={() => onTurn(notesOf(dataset))}
        />
      )}
    </Table.Td>
  )
}
