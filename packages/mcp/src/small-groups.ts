/**
 * The smallest number of people of whom a number is told. CMS's cell size suppression policy has the same threshold: no cell of 1 to 10, and none from
 * which such a cell can be derived (https://www.hhs.gov/guidance/document/cms-cell-suppression-policy).
 */
export const peopleMin = 11

/** A number of an answer, and of how many people it is: whose rows change it. */
export type Cell = { value: unknown; people: number }

/** A group: the values that make it, of how many people it is, and a cell for each measure. */
export type Group = {
  keys: readonly (string | number | boolean | null)[]
  people: number
  cells: readonly Cell[]
}

/**
 * Which cells stay unsaid: `hidden[group][measure]`. Each cell of 1 to 10 people, and all cells of a group of as few. And since a coarser question, without some of the keys or with months
 * for days, has totals: where a total has a hidden cell and none of them is of 11 people, its smallest other cell too. So a total less what is told
 * leaves nothing, or what is of 11 people. `widths`: for each key, to how many characters a coarser question shortens it; 0 leaves it out.
 */
export function smallCells(groups: readonly Group[], widths: readonly (readonly number[])[]): boolean[][] {
  const hidden = groups.map((group) => group.cells.map(({ people }) => isSmall(people) || isSmall(group.people)))
  const totals = totalsOf(groups, widths)
  const measures = groups[0]?.cells.length ?? 0
  for (let measure = 0; measure < measures; measure += 1) {
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false
      for (const total of totals) {
        const cells = total.map((group) => ({ group, people: groups[group]?.cells[measure]?.people ?? 0 }))
        const isHidden = ({ group }: { group: number }) => hidden[group]?.[measure] === true
        const unsaid = cells.filter((cell) => isHidden(cell) && cell.people > 0)
        if (unsaid.length === 0 || unsaid.some(({ people }) => !isSmall(people))) continue
        const [smallest] = cells
          .filter((cell) => !isHidden(cell) && cell.people > 0)
          .sort((one, other) => one.people - other.people)
        const row = smallest && hidden[smallest.group]
        if (!row) continue
        row[measure] = true
        hasChanged = true
      }
    }
  }
  return hidden
}

function isSmall(people: number): boolean {
  return people > 0 && people < peopleMin
}

/** The groups, by their places, that a coarser question adds up: one list for each of its totals. */
function totalsOf(groups: readonly Group[], widths: readonly (readonly number[])[]): number[][] {
  let forms: (readonly number[])[] = [[]]
  for (const shorter of widths) forms = forms.flatMap((form) => [Infinity, ...shorter].map((width) => [...form, width]))
  return forms.slice(1).flatMap((form) => {
    const totals = new Map<string, number[]>()
    groups.forEach(({ keys }, group) => {
      const name = JSON.stringify(
        keys.map((key, place) => (form[place] === Infinity ? key : String(key).slice(0, form[place]))),
      )
      const total = totals.get(name)
      if (total) total.push(group)
      else totals.set(name, [group])
    })
    return [...totals.values()]
  })
}
