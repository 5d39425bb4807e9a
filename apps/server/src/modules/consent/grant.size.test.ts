import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import type { AgentId, LocationId } from '../../platform/identity/identity.ts'
import { aPlan } from '../../testing/test-world.ts'
import { upsertLocations } from '../onboarding/upsert-locations.ts'
import { storeUpload } from '../records/write/upload.ts'
import type { Access } from './access.ts'
import { changeAccess } from './grant.ts'
import { someAccessWorld } from './testing/test-world.ts'

const size = 1_000
const uploadersAtOnce = 4
/** The promise is a second on a machine of its own; tests share theirs. */
const durationMaxMs = 5_000

test('the access to 1,000 locations with all their datasets changes in a second while uploads run, and no upload is refused or held up', async (t) => {
  const world = await someAccessWorld(t)
  const { organization } = await world.addOrganization(0)
  const { company } = await world.addCompany()
  const sources = Array.from({ length: size }, (_, index) => ({
    ...emptySource,
    sourceId: `s${index}`,
    name: `L${index}`,
  }))
  const ids = (await upsertLocations(world.pool, organization.id, sources)).map(({ id }) => id)
  const parties = { companyId: company.id, organizationId: organization.id, by: 'test' }
  const everyDataset = (locationIds: readonly (LocationId | null)[]): Access =>
    locationIds.flatMap((locationId) => datasetNames.map((dataset) => ({ locationId, dataset, notes: false })))

  const uploads = startUploads(world.pool, ids)
  t.after(uploads.stop)
  for (const [what, access, opened, closed] of [
    ['nothing → each location', everyDataset(ids), size, 0],
    ['each location → all', everyDataset([null]), 0, 0],
    ['all → every other location', everyDataset(ids.filter((_, index) => index % 2 === 0)), 0, size / 2],
    ['every other location → the others', everyDataset(ids.filter((_, index) => index % 2 === 1)), size / 2, size / 2],
    ['the others → nothing', [], 0, size / 2],
  ] as const) {
    const startedAtMs = performance.now()
    const change = await changeAccess(world.pool, parties, () => access)
    const durationMs = Math.round(performance.now() - startedAtMs)
    t.diagnostic(`${what}: ${durationMs} ms`)
    assert.deepEqual(
      [change.opened.length, change.closed.length],
      [opened * datasetNames.length, closed * datasetNames.length],
    )
    assert.ok(durationMs < durationMaxMs, `${what}: ${durationMs} ms`)
  }
  const { count, longestMs } = await uploads.stop()
  t.diagnostic(`${count} uploads beside it, the longest ${Math.round(longestMs)} ms`)
  assert.ok(count > 0 && longestMs < durationMaxMs)
})

/** Uploads of a plan each, several at once, to one location after the other. */
function startUploads(pool: Parameters<typeof storeUpload>[0], ids: readonly LocationId[]) {
  let isOver = false
  let [count, longestMs] = [0, 0]
  const upload = async (uploader: number) => {
    for (let number = 1; !isOver; number += 1) {
      const startedAtMs = performance.now()
      const lines = [{ sourceId: `p${number}`, source: JSON.stringify(aPlan({ plan_name: `Plan ${number}` })) }]
      const locationId = ids[(uploader + number * uploadersAtOnce) % ids.length] as LocationId
      const agentId = String(uploader + 1) as AgentId
      const upload = {
        locationId,
        dataset: 'insurance_plans',
        agentId,
        fence: null,
        number: String(number),
        bodyHash: '00',
        lines,
      } as const
      await storeUpload(pool, upload, () => new Date())
      count += 1
      longestMs = Math.max(longestMs, performance.now() - startedAtMs)
    }
  }
  const running = Promise.all(Array.from({ length: uploadersAtOnce }, (_, uploader) => upload(uploader)))
  // A refused upload ends the test at `stop`, not in between.
  running.catch(() => {})
  return {
    stop: async () => {
      isOver = true
      await running
      return { count, longestMs }
    },
  }
}

const emptySource = {
  addressLine1: null,
  addressLine2: null,
  city: null,
  state: null,
  postalCode: null,
  country: null,
  phone: null,
  email: null,
  websiteUrl: null,
  timeZone: null,
  currency: null,
  isActive: true,
  practiceManagementSystem: { name: null, version: null },
  officeHours: null,
}
