import assert from 'node:assert/strict'
import { openDentalConnector } from '@bridgework/agent'
import type { SourceRecord } from '@bridgework/contract/ingest'
import { keptRecords, type Present } from '../test-kept-records.ts'
import { eachName, type Name, names, type View } from '../test-vendor-copy.ts'

type Settings = Parameters<typeof openDentalConnector>[0]

/**
 * Compares what a vendor sees, by the practice's own key of the location, with a full read of the office by an agent without memory: what
 * the office has is seen as the office has it, and what is seen besides is hidden.
 */
export async function assertIsOffice(views: ReadonlyMap<string, View>, settings: Settings): Promise<void> {
  const present = await readPresent(settings)
  for (const location of present.keys()) assert.ok(views.has(location), `location ${location}`)
  for (const [location, seen] of views) {
    const here: Present = present.get(location) ?? {}
    const expected = expectedView(seen, here)
    for (const name of names) {
      const keys = new Set((here[name] ?? []).map((record) => record.source_id))
      const ofOffice = (records: Record<string, object>) => Object.entries(records).filter(([key]) => keys.has(key))
      const [ofVendor, ofFullRead] = [ofOffice(seen[name]), ofOffice(expected[name])].map(Object.fromEntries)
      assert.deepEqual(ofVendor, ofFullRead, `${name} of location ${location}`)
      const left = Object.entries(seen[name]).filter(
        ([key, own]) => !keys.has(key) && (own as { is_hidden: boolean }).is_hidden !== true,
      )
      assert.deepEqual(left, [], `${name} of location ${location} that the office does not have`)
    }
  }
}

/** What is gone is referred to all the same, where a record of it exists. */
function expectedView(seen: View, here: Present): View {
  const kept = keptRecords()
  const known = (name: Name) => Object.entries(seen[name]).map(([key, own]) => ({ source_id: key, attributes: own }))
  kept.take(eachName(known) as Present)
  kept.take(here)
  return kept.view()
}

async function readPresent(settings: Settings): Promise<Map<string, Record<Name, SourceRecord[]>>> {
  const all = new Map<string, Record<Name, SourceRecord[]>>()
  const connector = openDentalConnector(settings, 'America/Chicago')
  const cycle = await connector.beginCycle()
  try {
    for (const { source_id } of await cycle.readLocations())
      all.set(
        source_id,
        eachName(() => []),
      )
    for (const dataset of connector.datasets) {
      const { chunks } = (await cycle.scan?.(dataset)) ?? assert.fail()
      for await (const chunk of chunks) {
        for (const [location, records] of chunk) all.get(location)?.[dataset].push(...records)
      }
    }
  } finally {
    await cycle.end()
  }
  return all
}
