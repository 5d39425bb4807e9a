import '@mantine/charts/styles.css'
import type { DisclosureSummary } from '@bridgework/contract/portal'
import { BarChart } from '@mantine/charts'
import { Box, Table, Text } from '@mantine/core'
import { formatCount, locale } from '../../../ui/format/locale.ts'
import { barsOf } from './disclosure-days.ts'

// Distinct also for those who see few colours, and each light enough or dark enough for both schemes.
const colors = ['indigo.6', 'orange.6', 'teal.6', 'grape.6', 'yellow.5', 'cyan.8', 'red.8']

/** Records that vendors read, by the practice's days and by vendor; the same as a table below. */
export function DisclosureChart({ summary }: { summary: DisclosureSummary }) {
  const { bars, series } = barsOf(summary)
  const names = new Map(summary.vendors.map(({ company_id, name }) => [company_id, name]))
  return (
    <>
      <Box
        role="img"
        aria-label={`Records read by day, ${formatCount(summary.total_records)} in total. The table below has the numbers.`}
      >
        <BarChart
          h={260}
          data={bars}
          dataKey="day"
          type="stacked"
          withLegend
          legendProps={{ verticalAlign: 'bottom' }}
          series={series.map((vendor, index) => ({
            ...vendor,
            color: colors[index % colors.length] ?? 'gray.6',
          }))}
          valueFormatter={formatCount}
          xAxisProps={{ tickFormatter: shortDay }}
          barProps={{ isAnimationActive: false }}
          maxBarWidth={48}
        />
      </Box>
      <Box component="details">
        <Text component="summary" size="sm">
          Show as table
        </Text>
        <Table.ScrollContainer minWidth={400}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Day</Table.Th>
                <Table.Th scope="col">Vendor</Table.Th>
                <Table.Th scope="col" ta="right">
                  Reads
                </Table.Th>
                <Table.Th scope="col" ta="right">
                  Records
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {summary.days.map(({ day, company_id, reads, records }) => (
                <Table.Tr key={`${day} ${company_id}`}>
                  <Table.Td>{day}</Table.Td>
                  <Table.Td>
                    <bdi>{names.get(company_id)}</bdi>
                  </Table.Td>
                  <Table.Td ta="right">{formatCount(reads)}</Table.Td>
                  <Table.Td ta="right">{formatCount(records)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Box>
    </>
  )
}

/** "21 Nov": a day of the practice, without any zone. */
function shortDay(day: string): string {
  return new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(day))
}
