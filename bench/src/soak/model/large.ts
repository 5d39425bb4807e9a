import type { ModelLocation } from './model.ts'
import { randomSource } from './sent/office.ts'
import { type LastUploads, newUpload, sendUpload } from './sent/uploads.ts'
import { organizationOf, type World } from './world.ts'

/** Of so many plans that show one schedule, a change of it is rendered again in the background, in several turns. */
const plansOfOne = 5_400
const linesMax = 2_700

/** The location where a dataset has more than is changed or hidden at once. */
export async function fillLarge(world: World, last: LastUploads, location: ModelLocation): Promise<void> {
  const { random } = organizationOf(world, location)
  await renameShared(world, last, location)
  for (let from = 0; from < plansOfOne; from += linesMax) {
    const lines = Array.from({ length: linesMax }, (_, index) => ({
      sourceId: `large ${from + index}`,
      attributes: { ...randomSource(random, location, 'insurance_plans', 1), fee_schedule_source_id: shared },
    }))
    await sendUpload(world, last, newUpload(organizationOf(world, location), location, 'insurance_plans', lines))
  }
}

/** The schedule that all of them show gets another name. */
export async function renameShared(world: World, last: LastUploads, location: ModelLocation): Promise<void> {
  const organization = organizationOf(world, location)
  const attributes = {
    ...randomSource(organization.random, location, 'fee_schedules', 1),
    name: `Shared ${organization.agent.number}`,
  }
  await sendUpload(world, last, newUpload(organization, location, 'fee_schedules', [{ sourceId: shared, attributes }]))
}

const shared = 'shared'
