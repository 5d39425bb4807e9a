import type { NoticeWorld } from './test-notices.ts'

type Place = {
  location: Awaited<ReturnType<NoticeWorld['addLocation']>>
  vendor: Awaited<ReturnType<NoticeWorld['addVendor']>>
}

/** What happens in an office and to its location, by the notifier's clock. `world`: known once the tests have begun. */
export function officeCauses(world: () => NoticeWorld) {
  const hoursAgo = (hours: number) => new Date(world().set.now.getTime() - hours * 3_600_000)
  /** Its agent was heard so many hours ago, and its datasets were read to the end so many hours ago; null: never. */
  const office = async ({ location }: Pick<Place, 'location'>, heard: number, read: number | null) => {
    const { pool } = world()
    await pool.query(
      'insert into agent_contact values ($1, $2) on conflict (agent_id) do update set last_contact_at = excluded.last_contact_at',
      [location.agent.agentId, hoursAgo(heard)],
    )
    await pool.query(`update agent set enrolled_at = $2 where id = $1`, [location.agent.agentId, hoursAgo(50)])
    await pool.query(
      'insert into location_writer (location_id, agent_id, taken_at) values ($1, $2, now()) on conflict do nothing',
      [location.id, location.agent.agentId],
    )
    await pool.query('update location set created_at = $2 where id = $1', [location.id, hoursAgo(50)])
    await pool.query('update dataset_state set synced_at = $2, initial_sync_completed_at = $2 where location_id = $1', [
      location.id,
      read === null ? null : hoursAgo(read),
    ])
  }
  /** The same office, whose patients the vendor may read. */
  const readOffice = async (place: Place, heard: number, read: number) => {
    await world().grant(place.vendor.companyId, place.location, ['patients'])
    await office(place, heard, read)
  }
  /** All is read again and goes on being read while the clock moves on by an hour. */
  const readAgain = { cause: (place: Place) => office(place, -1.1, -1.1), after: 70 }
  /** Opens or closes a location whose patients the vendor may read. */
  const setOpen = async ({ location, vendor }: Place, isOpen: boolean) => {
    await world().grant(vendor.companyId, location, ['patients'])
    await world().pool.query('update location set is_active = $2 where id = $1', [location.id, isOpen])
  }
  const reportProblem = async ({ location }: Place) => {
    await world().pool.query(
      `insert into agent_problem values ($1, null, 'patients', 'table_damaged', 'patient', null, $2) on conflict do nothing`,
      [location.agent.agentId, hoursAgo(24 * 3)],
    )
  }
  const hold = async ({ location }: Pick<Place, 'location'>) => {
    await world().pool.query(
      `insert into removal (location_id, dataset, id, state, list_hash, visible, remaining, held_at)
       values ($1, 'patients', gen_random_uuid(), 'held', 'abc', 0, 0, now())`,
      [location.id],
    )
  }
  return { office, readOffice, readAgain, setOpen, reportProblem, hold }
}
