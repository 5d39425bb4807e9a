import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconSelector } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './DataTable.module.css'
import { locale } from './format/locale.ts'
import { type SortedSearch, useUrlState } from './state/url-state.ts'

export type Column<Row> = {
  /** The column's heading; `isHidden` leaves it to screen readers, as for a column of buttons. */
  header: string
  isHidden?: boolean
  align?: 'right'
  /** The name by which this column is sorted; the heading becomes a button, and the address keeps the choice. Each table of a page has its own names. */
  sortBy?: string
  /** For a table that has all its rows, which the browser sorts by this value; without it the server sorts. */
  sortValue?: (row: Row) => string | number | null
  cell: (row: Row) => ReactNode
}

/** A table that turns into cards on a phone. `caption` names it for a screen reader. The roles stay a table's though the cards' CSS is not. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey,
  isDense = false,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** For many short rows. */
  isDense?: boolean
}) {
  const [{ sort = '' }] = useUrlState<SortedSearch>()
  return (
    <div className={classes.frame}>
      <Table role="table" className={classes.table} verticalSpacing={isDense ? 4 : 'sm'}>
        <caption className={classes.caption}>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
        <Table.Thead role="rowgroup" className={classes.head}>
          <Table.Tr role="row">
            {columns.map(({ header, isHidden, align, sortBy }) =>
              sortBy ? (
                <SortHeading key={header} header={header} align={align} sortBy={sortBy} />
              ) : (
                <Table.Th key={header} role="columnheader" scope="col" ta={align}>
                  {isHidden ? <VisuallyHidden>{header}</VisuallyHidden> : header}
                </Table.Th>
              ),
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {sorted(rows, columns, sort).map((row) => (
            <Table.Tr key={rowKey(row)} role="row" className={classes.row}>
              {columns.map(({ header, isHidden, align, cell }) => (
                <Table.Td
                  key={header}
                  role="cell"
                  ta={align}
                  className={classes.cell}
                  data-label={isHidden ? undefined : header}
                >
                  <div className={classes.content} dir="auto">
                    {cell(row)}
                  </div>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

const { compare } = new Intl.Collator(locale, { numeric: true })

/** Texts as people count them, and rows without a value last in both directions. */
function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: string): readonly Row[] {
  const sortValue = columns.find(({ sortBy }) => sortBy !== undefined && sortBy === sort.replace('-', ''))?.sortValue
  if (!sortValue) return rows
  const direction = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((one, other) => {
    const [left, right] = [sortValue(one), sortValue(other)]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    const order = typeof left === 'number' && typeof right === 'number' ? left - right : compare(`${left}`, `${right}`)
    return direction * order
  })
}

/** A heading that sorts by its column: ascending, then descending, then as the list is without. */
function SortHeading({ header, align, sortBy }: { header: string; align: 'right' | undefined; sortBy: string }) {
  const [{ sort }, change] = useUrlState<SortedSearch>()
  const state = sort === sortBy ? 'ascending' : sort === `-${sortBy}` ? 'descending' : 'none'
  const next = { none: sortBy, ascending: `-${sortBy}`, descending: undefined }[state]
  const Shape = { none: IconSelector, ascending: IconChevronUp, descending: IconChevronDown }[state]
  return (
    <Table.Th role="columnheader" scope="col" ta={align} aria-sort={state}>
      <UnstyledButton fz="sm" fw={700} onClick={() => change({ sort: next, page: undefined })}>
        {header} <Shape size={14} aria-hidden style={{ verticalAlign: 'middle' }} />
      </UnstyledButton>
    </Table.Th>
  )
}
