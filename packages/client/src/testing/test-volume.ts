import assert from 'node:assert/strict'
import { aRecord, type TestLocation, type TestWorld } from '../../../../apps/server/src/testing/test-world.ts'

/** Gives a location `records` treatments, made by SQL of one that was uploaded: what is measured is reading. */
export async function fillTreatments(world: TestWorld, location: TestLocation, records: number): Promise<void> {
  const answer = await location.upload('treatments', { t0: aRecord('treatments', { description: 'Treatment' }) })
  assert.equal(answer.status, 200, answer.text)
  const own = `location_id = $1 and dataset = 'treatments'`
  for (let first = 1; first < records; first += 50_000) {
    await world.ownerPool.query(
      `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash,
                           source, document, patient_id, starts_at)
       select location_id, dataset, id + number, 't' || number, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash,
              source, replace(document, '{"id":"' || id || '"', '{"id":"' || (id + number) || '"'), patient_id, starts_at
         from record, generate_series($2::bigint, $3::bigint) as number
        where ${own} and source_id = 't0'`,
      [location.id, first, Math.min(first + 50_000, records) - 1],
    )
  }
  await world.ownerPool.query(`update dataset_state set total = $2 where ${own}`, [location.id, records])
  await world.ownerPool.query('analyze')
}
