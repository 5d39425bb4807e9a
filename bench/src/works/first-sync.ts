import { generateVolume } from '@bridgework/practice-simulator'
import { firstSync } from '../client/first-sync.ts'
import { uploadAll, uploadsOf } from '../fixture/uploads.ts'
import { createWorld, runSql } from '../world/practice.ts'
import { packLines } from '../world/upload.ts'
import { ours, type Row } from './row.ts'
import type { Work } from './work.ts'

/** The client copies a practice with all its datasets for the first time, into a new SQLite file. */
export const firstSyncs: Work = async ({ world, options, say }) => {
  // A practice and a vendor of its own, which is granted nothing else.
  const own = await createWorld(world.server, { locations: 1, name: 'Mirror' })
  const [locationId = ''] = own.locationIds
  await runSql(own.ownerUrl, `update location set time_zone = 'America/Phoenix' where id = $1`, [locationId])
  say('Uploading a practice for a first sync …')
  const uploads = uploadsOf(own)
  let records = 0
  const simulated = { seed: 'bench', locations: 1, patients: options.isQuick ? 500 : 6_000 }
  for (const batch of generateVolume(simulated, '1')) {
    const lines = batch.records.map(({ source_id, attributes }) => ({ source_id, attributes }))
    await uploadAll(uploads, locationId, batch.dataset, [packLines(lines)])
    records += lines.length
  }
  await runSql(own.adminUrl, 'vacuum analyze')
  const runs = []
  for (let round = 0; round < options.rounds; round += 1) {
    say(`First sync of ${records} records …`)
    runs.push(await firstSync(own, records))
  }
  const median = runs.toSorted((one, other) => one.wallMs - other.wallMs)[runs.length >> 1]
  if (!median) throw new Error('no round')
  const row: Row = {
    work: 'first-sync',
    name: `first sync of ${records.toLocaleString('en')} records into SQLite`,
    who: ours,
    connections: 1,
    perSecond: records / (median.wallMs / 1000),
    cpuMs: (1000 * median.serviceCpuMs) / records,
    bytes: null,
    ratio: null,
    target: null,
    records,
    clientCpuMs: median.clientCpuMs,
  }
  return [row]
}
