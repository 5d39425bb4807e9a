import { read } from '../../api/query.ts'

/** How many decisions wait for a person of the practice, which the menu shows. */
export function waitingQuery(organization_id: string) {
  return read('countWaiting', { params: { organization_id } }, { everyMs: 60_000 })
}
