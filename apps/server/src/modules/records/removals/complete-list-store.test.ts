import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { addMissing, findList, findMissingIn, replaceList, saveAnswer } from './complete-list-store.ts'

test('what a list misses is forgotten once the list is answered, and that of another location is not', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  await ownerPool.query(
    `insert into organization (id, name) values (1, 'Practice');
     insert into location (id, organization_id, source_id, name) values (7, 1, 'a', 'A'), (8, 1, 'b', 'B')`,
  )
  const begin = async (locationId: string) => {
    const key = {
      locationId: locationId as LocationId,
      dataset: 'patients',
      agentId: '1' as AgentId,
      fence: '1',
    } as const
    const id = await replaceList(pool, { ...key, beganAtUpload: '1' }, new Date())
    const list = (await findList(pool, key, id)) ?? assert.fail()
    await addMissing(pool, list, [`${locationId}-1`, `${locationId}-2`])
    return list
  }
  const [list, other] = [await begin('7'), await begin('8')]

  assert.deepEqual((await findMissingIn(pool, list, ['7-1', '7-2', '8-1', '7-9'])).sort(), ['7-1', '7-2'])
  await saveAnswer(pool, list, '{}')
  assert.deepEqual(await findMissingIn(pool, list, ['7-1', '7-2']), [])
  assert.deepEqual((await findMissingIn(pool, other, ['8-1', '8-2'])).sort(), ['8-1', '8-2'])
})
