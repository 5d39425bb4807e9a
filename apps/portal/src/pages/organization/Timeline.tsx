import type { LocationPage, TimelineCell } from '@bridgework/contract/portal'
import { Box, Group, Stack, Table, Text } from '@mantine/core'
import { exactInstant } from '../../ui/format/instant.ts'
import { locale } from '../../ui/format/locale.ts'
import { datasetTitle } from './access/dataset-title.ts'
import classes from './Timeline.module.css'
import { longestGap, shareRead } from './timeline-figures.ts'

const kinds = {
  read: 'Read completely',
  missed: 'Not read during office hours',
  closed: 'Not read, outside office hours',
  none: 'Before the first sync',
} as const satisfies Record<TimelineCell['kind'], string>

/** When each dataset was read: a line of cells, oldest first, with a legend; the same as a table for screen readers. */
export function Timeline({ location }: { location: LocationPage }) {
  const { timeline, cell_seconds, range } = location
  const cells = timeline[0]?.cells ?? []
  return (
    <Stack gap="sm">
      <Group component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Legend">
        {Object.entries(kinds).map(([kind, label]) => (
          <Group component="li" key={kind} gap={6} wrap="nowrap">
            <span className={`${classes.swatch} ${classes[kind]}`} aria-hidden />
            <Text size="sm">{label}</Text>
          </Group>
        ))}
      </Group>
      <div className={classes.rows}>
        {timeline.map(({ dataset, cells }) => (
          <div key={dataset} className={classes.row}>
            <Text size="sm" fw={500}>
              {datasetTitle(dataset)}
            </Text>
            <div className={classes.cells} role="img" aria-label={`${datasetTitle(dataset)}: ${shareRead(cells)}`}>
              {cells.map((cell) => (
                <span
                  key={cell.at}
                  className={`${classes.cell} ${classes[cell.kind]}`}
                  title={`${exactInstant(cell.at)}\n${kinds[cell.kind]}${cell.reads > 0 ? `, ${cell.reads} times` : ''}`}
                />
              ))}
            </div>
          </div>
        ))}
        <div className={classes.row} aria-hidden>
          <span />
          <Group justify="space-between" gap={0} wrap="nowrap">
            {[0, 0.5, 1].map((share) => {
              const cell = cells[Math.floor(share * (cells.length - 1))]
              return (
                <Text key={share} size="xs" c="dimmed">
                  {share === 1 ? 'now' : cell && tick(cell.at, range)}
                </Text>
              )
            })}
          </Group>
        </div>
      </div>
      <Box component="details">
        <Text component="summary" size="sm">
          Show as table
        </Text>
        <Table.ScrollContainer minWidth={480}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Dataset</Table.Th>
                {Object.values(kinds).map((label) => (
                  <Table.Th scope="col" key={label} ta="right">
                    {label}
                  </Table.Th>
                ))}
                <Table.Th scope="col" ta="right">
                  Longest gap during office hours
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {timeline.map(({ dataset, cells }) => (
                <Table.Tr key={dataset}>
                  <Table.Th scope="row">{datasetTitle(dataset)}</Table.Th>
                  {Object.keys(kinds).map((kind) => (
                    <Table.Td key={kind} ta="right">
                      {cells.filter((cell) => cell.kind === kind).length}
                    </Table.Td>
                  ))}
                  <Table.Td ta="right">{longestGap(cells, cell_seconds)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        <Text size="xs" c="dimmed" mt="xs">
          Each cell stands for {cell_seconds / 60} minutes.
        </Text>
      </Box>
    </Stack>
  )
}

function tick(instant: string, range: LocationPage['range']): string {
  const format = range === '24h' ? ({ timeStyle: 'short' } as const) : ({ weekday: 'short', hour: 'numeric' } as const)
  return new Intl.DateTimeFormat(locale, format).format(new Date(instant))
}
