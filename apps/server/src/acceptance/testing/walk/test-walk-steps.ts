import fc from 'fast-check'
import type { Mishap } from './test-walk-agent.ts'

const whole = (max: number) => fc.integer({ min: 0, max })
const agent = whole(2)
const mishap = fc.option(
  fc.record<Mishap>({
    at: fc.integer({ min: 1, max: 60 }),
    strike: fc.constantFrom('agent_before', 'agent_after', 'line', 'service', 'office', 'other'),
  }),
  { freq: 2 },
)

/** What may happen. `agent` counts those that there are; the first reads the office, a second one perhaps an old copy of it. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      n: whole(999),
      clockHours: fc.constantFrom(0, 0, 0, -30, 5),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), n: whole(999) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('cycle' as const), agent, mishap }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('poll' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('back up office' as const, 'back up service' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restore office' as const, 'restore service' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('back up state' as const, 'restore state' as const, 'lose state' as const),
      agent,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('damage state' as const), agent, n: whole(7) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('add agent' as const), readsOldCopy: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('copy folder' as const, 'take over' as const, 'let the copy go on' as const),
      agent,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('enrol again' as const, 'confirm restore' as const), agent }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('confirm removals' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('set clock' as const), hours: fc.integer({ min: -30, max: 30 }) }),
  },
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
export const steps = fc.array(step, { minLength: 4, maxLength: 14 })

/** The steps of one long walk, which the seed repeats. */
export function stepsOf(count: number, seed: number): Step[] {
  return fc.sample(step, { numRuns: count, seed })
}
