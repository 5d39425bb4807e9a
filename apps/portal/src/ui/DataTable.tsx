import { Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './DataTable.module.css'

export type Column<Row> = {
  /** The column's heading; `isHidden` leaves it to screen readers, as for a column of buttons. */
  header: string
  isHidden?: boolean
  align?: 'right'
  cell: (row: Row) => ReactNode
}

/** A table that turns into cards on a phone. `caption` names it for a screen reader. The roles stay a table's though the cards' CSS is not. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
}) {
  return (
    <Table role="table" className={classes.table} verticalSpacing="sm">
      <caption className={classes.caption}>
        <VisuallyHidden>{caption}</VisuallyHidden>
      </caption>
      <Table.Thead role="rowgroup" className={classes.head}>
        <Table.Tr role="row">
          {columns.map(({ header, isHidden, align }) => (
            <Table.Th key={header} role="columnheader" scope="col" ta={align}>
              {isHidden ? <VisuallyHidden>{header}</VisuallyHidden> : header}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {rows.map((row) => (
          <Table.Tr key={rowKey(row)} role="row" className={classes.row}>
            {columns.map(({ header, isHidden, align, cell }) => (
              <Table.Td
                key={header}
                role="cell"
                ta={align}
                className={classes.cell}
                data-label={isHidden ? undefined : header}
              >
                <div className={classes.content}>{cell(row)}</div>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
