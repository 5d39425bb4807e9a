import type { DatasetName } from '@bridgework/contract'
import { openDesk } from './life/desk.ts'
import { mergeTwo } from './life/people-events.ts'
import { applyChange, type Practice } from './practice.ts'
import { nextEvent, type PracticeEvent } from './practice-events.ts'
import { createRandom } from './random.ts'
import { recordsAffected, simulatedDatasets, type Truth, truthOf } from './source-records.ts'

/** A practice that goes on: one event at a time, always the same ones for the same seed. */
export type LivingPractice = {
  readonly practice: Practice
  /** How many events there have been since the practice was created. */
  readonly eventsSoFar: () => number
  /** Lets the next thing happen and says what changed. The practice's clock goes on, but not beyond `until`, a wall time of its headquarters. */
  readonly moveOn: (until?: string) => PracticeEvent
  /** Lets this happen, instead of what chance would bring. */
  readonly apply: (event: PracticeEvent) => PracticeEvent
  /** Lets two patients turn out to be one. Without two who may be, nothing changes. */
  readonly mergeTwo: () => PracticeEvent
  readonly truth: () => Truth
  /** Keys of a dataset's records that later events altered; null when this life does not reach back to that event. */
  readonly alteredSince: (dataset: DatasetName, eventNumber: number) => string[] | null
}

/** `eventsSoFar` is not 0 when a practice that lived before goes on. */
export function livingPractice(practice: Practice, eventsSoFar = 0): LivingPractice {
  let count = eventsSoFar
  const alteredAt = new Map(
    simulatedDatasets.map((dataset): [DatasetName, Map<string, number>] => [dataset, new Map()]),
  )

  /** After the whole event: what a row leads to is looked up as things stand then. */
  function note(event: PracticeEvent): PracticeEvent {
    count += 1
    for (const change of event.changes) {
      for (const [dataset, altered] of alteredAt) {
        for (const key of recordsAffected(practice, dataset, change)) altered.set(key, count)
      }
    }
    return event
  }

  return {
    practice,
    eventsSoFar: () => count,
    // The chance of each event is its own, so that going on after a restart brings what would have come without it.
    moveOn: (until) => note(nextEvent(practice, createRandom(`${practice.seed}/event/${count + 1}`), until)),
    apply: (event) => {
      for (const change of event.changes) applyChange(practice, change)
      return note(event)
    },
    mergeTwo: () => {
      const desk = openDesk(practice, createRandom(`${practice.seed}/event/${count + 1}`))
      mergeTwo(desk)
      return note({ name: 'patients_merged', changes: desk.done })
    },
    truth: () => truthOf(practice),
    alteredSince: (dataset, eventNumber) => {
      if (eventNumber < eventsSoFar || eventNumber > count) return null
      return [...(alteredAt.get(dataset) ?? [])].filter(([, at]) => at > eventNumber).map(([key]) => key)
    },
  }
}
