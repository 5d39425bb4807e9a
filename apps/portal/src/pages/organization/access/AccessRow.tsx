import type { OrganizationPage } from '@bridgework/contract/portal'
import { Text } from '@mantine/core'
import { memo, type ReactNode } from 'react'
import classes from './AccessMatrix.module.css'
import { notesOf, type Ticks } from './access-draft.ts'
import { firstBox } from './grid-focus.ts'

/**
 * A row of the matrix: a box for the whole row, one for each dataset and, where the dataset is open, one for its notes. It is drawn again
 * only when a value here is another one.
 */
export const AccessRow = memo(function AccessRow({
  row,
  rowIndex,
  title,
  hint,
  where,
  ticks,
  datasets,
  disabled,
  active,
  index,
  gap = 0,
  measure,
  onChange,
}: {
  /** Names the row among those of the matrix. */
  row: string
  rowIndex: number
  title: string
  hint?: string
  /** Completes "Patients at …" for a screen reader. */
  where: string
  /** For each dataset its own ticks and those of its notes, as one text. */
  ticks: string
  datasets: OrganizationPage['datasets']
  disabled: boolean
  /** The box that the Tab key leads to; null: none of this row. */
  active: string | null
  /** Of a row that is in the document only while it is in sight: its number, and the room of the rows left out before it. */
  index?: number
  gap?: number
  measure?: (element: HTMLTableRowElement | null) => void
  onChange: (row: string, names: readonly string[], open: boolean) => void
}) {
  const own = ticks.split(' ') as Ticks[]
  const cells = datasets.map(({ dataset, title: name, has_notes, has_patient_data }, column) => ({
    dataset,
    name,
    has_patient_data,
    ticks: own[2 * column] ?? 'none',
    notes: has_notes && own[2 * column] === 'all' ? (own[2 * column + 1] ?? 'none') : null,
  }))
  const whole = cells.every((cell) => cell.ticks === cells[0]?.ticks) ? (cells[0]?.ticks ?? 'none') : 'some'
  const hasActive = cells.some(({ dataset, notes }) => active === dataset || (notes && active === notesOf(dataset)))
  const box = (name: string, label: string, state: Ticks, names: readonly string[], text: ReactNode) => (
    <label className={classes.label}>
      <input
        type="checkbox"
        className={classes.box}
        aria-label={`${label} at ${where}`}
        ref={(element) => {
          if (element) element.indeterminate = state === 'some'
        }}
        checked={state === 'all'}
        // A box that may not be changed can still be reached with the keyboard, and read.
        aria-disabled={disabled}
        data-box={name}
        tabIndex={active !== null && name === (hasActive ? active : firstBox) ? 0 : -1}
        onChange={(event) => {
          if (!disabled) onChange(row, names, event.currentTarget.checked)
        }}
      />
      {text}
    </label>
  )
  return (
    <tr
      className={classes.row}
      aria-rowindex={rowIndex}
      data-row={row}
      data-index={index}
      ref={measure}
      style={gap > 0 ? { marginTop: gap } : undefined}
    >
      <th scope="row" className={classes.place}>
        {box(
          firstBox,
          'All datasets',
          whole,
          datasets.map(({ dataset }) => dataset),
          <span className={classes.name}>
            {title}
            {hint && (
              <Text size="xs" c="dimmed" fw={400} component="span" display="block">
                {hint}
              </Text>
            )}
          </span>,
        )}
      </th>
      {cells.map(({ dataset, name, has_patient_data, ticks: state, notes }) => (
        <td key={dataset} className={classes.cell}>
          {box(
            dataset,
            name,
            state,
            [dataset],
            <span className={classes.dataset}>
              {name}
              {has_patient_data && (
                <Text size="xs" c="dimmed" component="span" display="block">
                  patient data
                </Text>
              )}
            </span>,
          )}
          {notes && box(notesOf(dataset), `Notes of ${name}`, notes, [notesOf(dataset)], <small>Notes</small>)}
        </td>
      ))}
    </tr>
  )
})
