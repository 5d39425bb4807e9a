import { type FocusEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { datasetOfNotes } from './access-draft.ts'

/** The box at the beginning of every row. */
export const firstBox = 'row'

type Place = { row: string; box: string }

/**
 * The keys of a grid (ARIA APG): the Tab key leads to one box, the arrows from box to box, Page up and down over ten rows, Home and End within
 * a row, with Ctrl to the first and the last row. `rows`: the names of all rows, also those that are not in the document; `active` must be.
 * Give `handlers` to the table, its rows data-row, its boxes data-box.
 */
export function useGridFocus(rows: readonly string[]) {
  const [chosen, setChosen] = useState<Place>({ row: rows[0] ?? '', box: firstBox })
  // A row that a search leaves out cannot be where the Tab key leads.
  const active = rows.includes(chosen.row) ? chosen : { row: rows[0] ?? '', box: firstBox }
  const table = useRef<HTMLTableElement>(null)
  const isMoving = useRef(false)
  useLayoutEffect(() => {
    if (!isMoving.current) return
    isMoving.current = false
    const row = table.current?.querySelector(`[data-row="${CSS.escape(active.row)}"]`)
    const boxes = [active.box, datasetOfNotes(active.box) ?? firstBox, firstBox]
    const found = boxes.map((box) => row?.querySelector<HTMLElement>(`[data-box="${CSS.escape(box)}"]`)).find(Boolean)
    found?.focus()
  }, [active])

  const onFocus = ({ target }: FocusEvent<HTMLTableElement>) => {
    const place = placeOf(target)
    if (place && (place.row !== active.row || place.box !== active.box)) setChosen(place)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTableElement>) => {
    const place = placeOf(event.target)
    if (!place || event.altKey || event.metaKey) return
    const isFar = event.ctrlKey && (event.key === 'Home' || event.key === 'End')
    if (event.ctrlKey && !isFar) return
    const at = rows.indexOf(place.row)
    const rowOf: Record<string, number> = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      PageUp: at - 10,
      PageDown: at + 10,
      ...(isFar && { Home: 0, End: rows.length - 1 }),
    }
    const row = rowOf[event.key]
    if (row === undefined && !['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) return
    event.preventDefault()
    if (row !== undefined) {
      isMoving.current = true
      setChosen({ row: rows[Math.max(0, Math.min(rows.length - 1, row))] ?? place.row, box: place.box })
      return
    }
    const boxes = [...(place.element.closest('tr')?.querySelectorAll<HTMLElement>('[data-box]') ?? [])]
    const column = boxes.indexOf(place.element)
    const next: Record<string, number> = {
      ArrowLeft: column - 1,
      ArrowRight: column + 1,
      Home: 0,
      End: boxes.length - 1,
    }
    boxes[next[event.key] ?? column]?.focus()
  }
  return { active, table, handlers: { onFocus, onKeyDown } }
}

function placeOf(target: EventTarget): (Place & { element: HTMLElement }) | null {
  const element = target as HTMLElement
  const row = element.closest<HTMLElement>('[data-row]')?.dataset.row
  const { box } = element.dataset
  return row !== undefined && box !== undefined ? { row, box, element } : null
}
