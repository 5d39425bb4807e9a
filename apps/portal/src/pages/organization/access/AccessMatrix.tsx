import type { OrganizationPage, VendorPage } from '@bridgework/contract/portal'
import { Anchor, Text, VisuallyHidden } from '@mantine/core'
import { IconUserHeart } from '@tabler/icons-react'
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import { formatCount } from '../../../ui/format/locale.ts'
import classes from './AccessMatrix.module.css'
import { AccessRow } from './AccessRow.tsx'
import { type Access, type Cells, notesOf, ticksOf } from './access-draft.ts'
import { useGridFocus } from './grid-focus.ts'

/** Above the locations: the names of the datasets, all locations with future ones, and all that are listed. */
const rowsAbove = 3
const allRow = 'all'
const listedRow = 'listed'

/**
 * Locations down, datasets across. Only the rows in sight are in the document; the arrow keys lead to every one, and each says its number.
 * A box in the first column is for the whole row; the two rows above the locations are for whole columns. `isFiltered`: `locations` are those
 * that match a search.
 */
export function AccessMatrix({
  access,
  locations,
  isFiltered,
  datasets,
  disabled,
  onChange,
  onPreview,
}: {
  access: Access
  locations: VendorPage['locations']
  isFiltered: boolean
  datasets: OrganizationPage['datasets']
  disabled: boolean
  onChange: (cells: Cells, open: boolean) => void
  onPreview: (dataset: string) => void
}) {
  const scroll = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const ids = locations.map(({ id }) => id)
  const focus = useGridFocus([allRow, listedRow, ...ids])
  const activeIndex = ids.indexOf(focus.active.row)
  const [above, setAbove] = useState(0)
  // The rows above wrap and grow with what they hold.
  useLayoutEffect(() => setAbove(body.current?.offsetTop ?? 0))
  const { getVirtualItems, getTotalSize, measureElement } = useVirtualizer({
    count: ids.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 45,
    getItemKey: (index) => ids[index] ?? index,
    overscan: 6,
    scrollMargin: above,
    // The row with the focus stays in the document, however far one scrolls away from it.
    rangeExtractor: (range) => {
      const rows = defaultRangeExtractor(range)
      return activeIndex === -1 || rows.includes(activeIndex) ? rows : [...rows, activeIndex].sort((a, b) => a - b)
    },
  })
  const latest = useRef(onChange)
  latest.current = onChange
  const idsNow = useRef(ids)
  idsNow.current = ids
  // Always the same function, so that a click draws only the rows that it changes.
  const change = useCallback((row: string, names: readonly string[], open: boolean) => {
    const at = row === allRow ? null : row === listedRow ? idsNow.current : [row]
    latest.current({ at, names }, open)
  }, [])
  const rowFor = (row: string, at: readonly string[] | null) => ({
    row,
    ticks: ticksText(access, at, datasets),
    datasets,
    disabled,
    active: focus.active.row === row ? focus.active.box : null,
    onChange: change,
  })
  const count = ids.length === 1 ? '1 location' : `${formatCount(ids.length)} locations`
  const listed = isFiltered ? 'locations that match the search' : 'locations of today'
  const items = getVirtualItems()
  const last = items.at(-1)
  return (
    <div className={classes.scroll} ref={scroll}>
      <table
        ref={focus.table}
        className={classes.table}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose boxes the arrow keys reach is a grid
        role="grid"
        aria-rowcount={rowsAbove + ids.length}
        {...focus.handlers}
      >
        <caption className={classes.caption}>
          <VisuallyHidden>Datasets that the vendor may read at each location</VisuallyHidden>
        </caption>
        <thead className={classes.head}>
          <tr className={classes.row} aria-rowindex={1}>
            <th scope="col" className={classes.place}>
              Location
            </th>
            {datasets.map(({ dataset, title, has_patient_data }) => (
              <th scope="col" key={dataset} className={classes.cell}>
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
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <AccessRow
            {...rowFor(allRow, null)}
            rowIndex={2}
            title="All locations"
            hint="also future ones"
            where="all locations, also future ones"
          />
          <AccessRow
            {...rowFor(listedRow, ids)}
            rowIndex={3}
            title={`All ${listed}`}
            hint={`${count}, not future ones`}
            where={`all ${listed}`}
          />
        </tbody>
        <tbody ref={body} style={{ paddingBottom: last ? above + getTotalSize() - last.end : 0 }}>
          {items.map(({ index, key, start }, position) => {
            const location = locations[index]
            if (!location) return null
            return (
              <AccessRow
                key={key}
                {...rowFor(location.id, [location.id])}
                rowIndex={rowsAbove + index + 1}
                title={location.name}
                where={location.name}
                index={index}
                gap={start - (items[position - 1]?.end ?? above)}
                measure={measureElement}
              />
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** What a row shows as one text, so that a row that shows the same as before is not drawn again. */
function ticksText(access: Access, at: readonly string[] | null, datasets: OrganizationPage['datasets']): string {
  const names = datasets.flatMap(({ dataset }) => [dataset, notesOf(dataset)])
  return names.map((name) => ticksOf(access, { at, names: [name] })).join(' ')
}
