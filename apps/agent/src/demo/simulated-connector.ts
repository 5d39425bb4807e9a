import {
  type LivingPractice,
  recordKeys,
  simulatedDatasets,
  sourceLocation,
  sourceRecords,
} from '@bridgework/practice-simulator'
import type { ByLocation, Changes, Connector, DatasetName, SourceCycle, SourceRecord } from '../connector.ts'

const keysPerChunk = 1000

/** Reads a living practice as an office's agent reads the practice management system. */
export function simulatedConnector(living: LivingPractice): Connector {
  return {
    name: 'practice-simulator',
    datasets: simulatedDatasets,
    beginCycle: async () => cycle(living),
    check: async () => ({
      findings: [{ outcome: 'good', what: 'The practice is simulated; there is nothing to check.', todo: null }],
      now: null,
    }),
  }
}

function cycle({ practice, eventsSoFar, alteredSince }: LivingPractice): SourceCycle {
  const pms = { name: 'Practice simulator', version: practice.organization.softwareVersion }
  const byLocation = <T>(value: (locationKey: string) => T): ByLocation<T> =>
    new Map([...practice.locations.keys()].map((key) => [key, value(key)]))

  return {
    readLocations: async () => [...practice.locations.values()].map((location) => sourceLocation(location, pms)),
    listKeys: async (dataset) => byLocation((location) => recordKeys(practice, dataset, location)),
    findChanges: async (dataset, cursor) => changesSince(dataset, cursor, eventsSoFar(), alteredSince),
    async *readRecords(dataset, keys): AsyncGenerator<ByLocation<readonly SourceRecord[]>> {
      for (let start = 0; start < keys.length; start += keysPerChunk) {
        const chunk = keys.slice(start, start + keysPerChunk)
        yield byLocation((location) => sourceRecords(practice, dataset, location, chunk))
      }
    },
    // The practice is in our own memory: nothing can be read by halves.
    confirm: async () => {},
    end: async () => {},
  }
}

/** The cursor is the number of events. One of an earlier process, or of another practice, leads to comparing everything: cheap here. */
function changesSince(
  dataset: DatasetName,
  cursor: string | null,
  eventsSoFar: number,
  alteredSince: LivingPractice['alteredSince'],
): Changes {
  const now = String(eventsSoFar)
  if (cursor === null) return { cursor: now, keys: 'all', because: 'first_read' }
  const keys = alteredSince(dataset, Number(cursor))
  return keys === null ? { cursor: now, keys: 'all', because: 'requested' } : { cursor: now, keys }
}
