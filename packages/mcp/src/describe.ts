import { unknownName } from './answer.ts'
import type { Mirror } from './mirror.ts'
import { groupedSources, recordSource, recordSources, type SourceColumn } from './sources.ts'

/** The sources that can be asked; or of one its columns, with what they are and how they are used. */
export async function describeSources(mirror: Mirror, withRecords: boolean, name: string | undefined) {
  if (name === undefined) {
    const rows = withRecords
      ? recordSources.map((source) => ({ source, about: recordSource(source, []).about }))
      : groupedSources.map(({ name: source, about, person }) => ({ source, about, is_about_patients: person !== null }))
    return { rows, has_more: false }
  }
  if (withRecords) {
    if (!recordSources.includes(name)) throw unknownName('source', name, recordSources)
    const { about, columns } = recordSource(name, await mirror.columnsOf(name))
    return {
      source: name,
      about,
      rows: columns.map((column) => describe(column, 'read, filter, group, add up')),
      has_more: false,
    }
  }
  const source = groupedSources.find((each) => each.name === name)
  if (!source)
    throw unknownName(
      'source',
      name,
      groupedSources.map((each) => each.name),
    )
  const rows = [
    ...source.columns.map((column) => describe(column, 'filter, group')),
    ...source.sums.map((column) => describe(column, 'sum, average')),
  ]
  return { source: name, about: source.about, rows, has_more: false }
}

function describe({ name, kind, about }: SourceColumn, use: string) {
  return { column: name, kind, ...(about && { about }), ...(units[kind] && { unit: units[kind] }), use }
}

const units: Partial<Record<SourceColumn['kind'], string>> = {
  decimal: 'the location’s currency',
  date: 'day, 2026-02-03',
  instant: 'moment, 2026-02-03T17:00:00Z',
  wall_time: 'time on the location’s clock, 2026-02-03T09:00:00',
}
