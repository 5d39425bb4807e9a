import { type Filled, recordsOfPatient, stepMicros } from './fill.ts'

/** A list's query, with how many records answer it. */
export type Query = { name: string; query: string; records: number }

const rangeRecords = 500
const deltaRecords = 10
const overlapMicros = 5 * 60_000_000

/** The same questions of any location: what they match is the same, but for the wide ones, which match half of it. */
export function queriesOf(filled: Filled): Query[] {
  const { rows, firstStamp, firstStart, firstId } = filled
  const lastStamp = firstStamp + rows - 1
  const patient = { 'q[patient_id]': '7' }
  const range = between(firstStart, firstStart + rangeRecords * stepMicros)
  const wide = between(firstStart, firstStart + (rows / 2) * stepMicros)
  const all = between(firstStart, firstStart + rows * stepMicros)
  const delta = since(lastStamp - deltaRecords)
  const half = since(lastStamp - rows / 2)
  const middle = { items: '1000', after: String(firstId + rows / 4) }
  const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()
  return [
    { name: 'one patient', query: query(patient), records: recordsOfPatient },
    { name: 'a range of 500', query: query({ ...range, items: '500' }), records: rangeRecords },
    { name: 'one patient, all starts', query: query({ ...patient, ...all }), records: recordsOfPatient },
    { name: 'one patient, half of all starts', query: query({ ...patient, ...wide }), records: recordsOfPatient / 2 },
    { name: 'delta, empty', query: query(since(lastStamp)), records: 0 },
    { name: 'delta of 10', query: query(delta), records: deltaRecords },
    { name: 'delta of 10, all starts', query: query({ ...delta, ...all }), records: deltaRecords },
    {
      name: 'delta of half, range of 500',
      query: query({ ...half, ...range, items: '100' }),
      records: 100,
    },
    {
      name: 'one patient, whole delta',
      query: query({ ...since(firstStamp), ...patient }),
      records: recordsOfPatient,
    },
    { name: 'half of all starts, a later page', query: query({ ...wide, ...middle }), records: 1000 },
    { name: 'delta of half, a later page', query: query({ ...half, ...middle }), records: 1000 },
    { name: 'half of all starts, first page', query: query({ ...wide, items: '1000' }), records: 1000 },
    { name: 'delta of half, first page', query: query({ ...half, items: '1000' }), records: 1000 },
    { name: 'both halves, a later page', query: query({ ...half, ...wide, ...middle }), records: 1000 },
    { name: 'both halves, first page', query: query({ ...half, ...wide, items: '1000' }), records: 1000 },
  ]
}

function since(modifiedAfter: number): Record<string, string> {
  return { 'q[fetch_modified_since]': moment(modifiedAfter + overlapMicros) }
}

function between(from: number, to: number): Record<string, string> {
  return { 'q[starts_from]': moment(from), 'q[starts_to]': moment(to) }
}

function moment(micros: number): string {
  const seconds = new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)
  return `${seconds}${String(micros % 1000).padStart(3, '0')}Z`
}
