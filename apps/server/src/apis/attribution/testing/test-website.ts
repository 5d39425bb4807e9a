import type { TestContext } from 'node:test'
import { updateAttributionSettings } from '../../../modules/attribution/settings.ts'
import { findScriptByKey, listScripts, listSightings } from '../../../modules/attribution/store.ts'
import { someWorld, type TestLocation } from '../../../testing/test-world.ts'

/** A world with a location whose website is smile.example, and what a browser there would send. */
export async function someWebsite(t: TestContext, options: Parameters<typeof someWorld>[1] = {}) {
  const world = await someWorld(t, options)
  const location = await world.addLocation()
  await world.pool.query(`update location set website_url = 'https://www.smile.example/' where id = $1`, [location.id])
  const script = await scriptOf(location)
  let addresses = 0

  async function scriptOf({ id }: TestLocation) {
    const found = (await listScripts(world.pool, [id])).get(id)
    if (!found) throw new Error('the location has no script')
    return found
  }

  /** A page load at this origin, each from an address of its own by default. */
  const load = (origin: string, options: { key?: string; ip?: string } = {}) => {
    addresses += 1
    return world.request(`/attribution/${options.key ?? script.key}`, {
      method: 'POST',
      headers: { origin, 'x-forwarded-for': options.ip ?? `203.0.${addresses >> 8}.${addresses & 255}` },
    })
  }
  return {
    ...world,
    location,
    key: script.key,
    load,
    state: async () => {
      const found = await findScriptByKey(world.pool, script.key)
      if (!found) throw new Error('the script is gone')
      return found
    },
    sightings: async () => (await listSightings(world.pool, [location.id])).get(location.id) ?? [],
    set: (domains: string[], excludedPaths: string[] = []) =>
      updateAttributionSettings(world.pool, location.id, { domains, excludedPaths }, async () => {}),
    /** Lets everything that was seen so far have been seen so long ago. */
    letTimePass: async (interval: string) => {
      await world.pool.query(
        `update attribution_script set last_seen_at = last_seen_at - $1::interval, installed_at = installed_at - $1::interval`,
        [interval],
      )
      await world.pool.query(
        `update attribution_sighting set last_seen_at = last_seen_at - $1::interval, first_seen_at = first_seen_at - $1::interval`,
        [interval],
      )
    },
  }
}
