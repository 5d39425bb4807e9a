import type { DatabaseSync } from 'node:sqlite'
import { isUploadNumber } from '@bridgework/contract/ingest'
import type { DatasetName, SourceLocation } from '../connector.ts'
import { digestState } from './digest-state.ts'
import { ownProcess } from './process.ts'
import { sourceMemory } from './source-memory.ts'
import { inTransaction, openStateFile, stateProblem } from './state-file.ts'

/** Whose copy the state describes. With another one, what was remembered is worth nothing and is dropped. */
export type StateIdentity = { readonly serverUrl: string; readonly agentId: string; readonly organizationId: string }

/** An upload that was numbered and kept before it was sent; `body` is exactly what goes over the wire. */
export type Upload = {
  number: number
  locationId: string
  dataset: DatasetName
  body: Uint8Array
  /** For each line of the body what its record bears on; the body itself does not say. */
  bearsOn: readonly (readonly string[])[]
}

/** What is remembered of a record that the server has. */
export type SentRecord = { sourceId: string; hash: string; listHash: string; bearsOn: readonly string[] }

/** A record that the server refused, in the version with this hash. */
export type RefusedRecord = { sourceId: string; hash: string; errors: string; triedAtMs: number }

export type AgentState = ReturnType<typeof openState>

/**
 * The agent's memory, one SQLite file that only its owner may read: which version of each record the server has, the
 * upload under way, the connector's cursors. It may be lost: then everything is sent again and the server reports it
 * unchanged. Numbers of a new file begin at the clock's milliseconds, so they never meet those of a file that was lost.
 * One process at a time: the file stays locked while it is open, also against a second agent, and a kill frees it.
 */
export function openState(path: string, identity: StateIdentity, nowMs: () => number = Date.now) {
  const { database, setAside } = openStateFile(path)
  const statements = prepare(database)
  const digests = digestState(database)

  const transaction = <T>(work: () => T): T => inTransaction(database, work)

  function get(name: string): string | null {
    return textOrNull(statements.get.get(name)?.value)
  }

  function forgetEverything(): void {
    database.exec(
      'delete from record; delete from refused; delete from upload; delete from dataset; delete from location_dataset; delete from recheck',
    )
    database.exec(`delete from setting where name in ('acknowledged_upload', 'locations_sent')`)
    digests.forget()
  }

  /** What the record bore on and does not any more is to be read again. */
  function letGo(locationId: string, dataset: DatasetName, sourceId: string, bearsOn: readonly string[]): void {
    const before = linesOf(statements.bearsOn.get(locationId, dataset, sourceId)?.bears_on)
    for (const other of before) {
      if (bearsOn.includes(other)) continue
      const slash = other.indexOf('/')
      statements.putRecheck.run(other.slice(0, slash), other.slice(slash + 1))
    }
  }

  const expected = JSON.stringify([identity.serverUrl, identity.organizationId, identity.agentId])
  const wasReset = transaction(() => {
    const known = get('identity')
    if (known === expected) return false
    if (known !== null) forgetEverything()
    database.exec(`delete from location; delete from setting where name = 'processes'`)
    statements.set.run('identity', expected)
    return known !== null
  })

  function nextUploadNumber(): number {
    return Number(get('next_upload_number') ?? nowMs())
  }

  const process = ownProcess(path, {
    read: () => get('processes'),
    write: (text) => statements.set.run('processes', text),
    nextUploadNumber,
  })

  return {
    process,
    /** True when the file described another server, organization or agent. */
    wasReset,
    /** Where a damaged file was put, in whose place this one began; null: it was whole. */
    setAside,
    /** What an error of the file means; null where it is none. */
    problemOf: (error: unknown) => stateProblem(path, error),
    nextUploadNumber,
    source: sourceMemory(path),
    digests,

    /** Gives the upload its number and keeps it, before anything is sent. */
    beginUpload: (
      locationId: string,
      dataset: DatasetName,
      body: Uint8Array,
      bearsOn: Upload['bearsOn'] = [],
    ): Upload =>
      transaction(() => {
        const number = nextUploadNumber()
        statements.set.run('next_upload_number', String(number + 1))
        statements.insertUpload.run(number, locationId, dataset, body, JSON.stringify(bearsOn))
        return { number, locationId, dataset, body, bearsOn }
      }),

    pendingUpload: (): Upload | null => {
      const row = statements.pendingUpload.get()
      if (row === undefined) return null
      return {
        number: Number(row.number),
        locationId: String(row.location_id),
        dataset: datasetOf(row.dataset),
        body: row.body instanceof Uint8Array ? row.body : new Uint8Array(),
        bearsOn: JSON.parse(String(row.bears_on)) as Upload['bearsOn'],
      }
    },

    /** The server has it: the upload ends and its records are known, in one transaction. */
    completeUpload: (upload: Upload, records: readonly SentRecord[]): void =>
      transaction(() => {
        for (const { sourceId, hash, listHash, bearsOn } of records) {
          letGo(upload.locationId, upload.dataset, sourceId, bearsOn)
          statements.putRecord.run(upload.locationId, upload.dataset, sourceId, hash, listHash, bearsOn.join('\n'))
          statements.clearRefused.run(upload.locationId, upload.dataset, sourceId)
        }
        statements.deleteUpload.run(upload.number)
        statements.set.run('acknowledged_upload', String(upload.number))
      }),

    /** The server refused it and kept nothing of it. */
    abandonUpload: (upload: Upload): void => {
      statements.deleteUpload.run(upload.number)
    },

    /** The service's epoch that this file describes; null before the first contact. */
    epoch: (): string | null => get('epoch'),

    /** The last upload that the service of this file's epoch has taken; null: none. */
    acknowledged: (): { number: number; epoch: string } | null => {
      const [number, epoch] = [get('acknowledged_upload'), get('epoch')]
      return number === null || epoch === null ? null : { number: Number(number), epoch }
    },

    keepEpoch: (epoch: string): void => {
      statements.set.run('epoch', epoch)
    },

    /**
     * What this file says was sent may since have been overwritten, or may be lost, so all is forgotten, and numbers go on beyond any that were
     * used. `highest`: the highest number that the service has. Where it would not take one as high as this file's, they go on after its own.
     */
    startOver: (highest: number | null): void =>
      transaction(() => {
        forgetEverything()
        const wanted = Math.max(nextUploadNumber() + 1, (highest ?? 0) + 1, nowMs())
        const next = isUploadNumber(wanted, highest) ? wanted : (highest ?? 0) + 1
        statements.set.run('next_upload_number', String(next))
      }),

    hashOf: (locationId: string, dataset: DatasetName, sourceId: string): string | null =>
      textOrNull(statements.hashOf.get(locationId, dataset, sourceId)?.hash),

    knownKeys: (locationId: string, dataset: DatasetName): Set<string> =>
      new Set(statements.knownKeys.all(locationId, dataset).map((row) => String(row.source_id))),

    /** What was sent, in the order of the keys' bytes, one after the other: a million of them need not be held at once. */
    eachRecord: function* (
      locationId: string,
      dataset: DatasetName,
    ): Generator<{ sourceId: string; listHash: string }> {
      for (const row of statements.eachRecord.iterate(locationId, dataset)) {
        yield { sourceId: String(row.source_id), listHash: String(row.list_hash) }
      }
    },

    /** The service has not what was sent: these records are read again, and sent whatever they say. */
    mistrust: (locationId: string, dataset: DatasetName, sourceIds: readonly string[]): void =>
      transaction(() => {
        for (const sourceId of sourceIds) {
          statements.forgetHash.run(locationId, dataset, sourceId)
          statements.putRecheck.run(dataset, sourceId)
        }
      }),

    /** Keys from `first` to `last` in the order of their bytes. */
    knownBetween: (locationId: string, dataset: DatasetName, first: string, last: string): string[] =>
      statements.knownBetween.all(locationId, dataset, first, last).map((row) => String(row.source_id)),

    /** A number for one read of everything; `markRead` notes with it what was met, `unreadKeys` tells what was not. */
    beginRead: (): number =>
      transaction(() => {
        const number = Number(get('read_number') ?? 0) + 1
        statements.set.run('read_number', String(number))
        return number
      }),

    markRead: (locationId: string, dataset: DatasetName, sourceIds: Iterable<string>, readNumber: number): void =>
      transaction(() => {
        for (const sourceId of sourceIds) statements.markRead.run(readNumber, locationId, dataset, sourceId)
      }),

    unreadKeys: (locationId: string, dataset: DatasetName, readNumber: number): Set<string> =>
      new Set(statements.unreadKeys.all(locationId, dataset, readNumber).map((row) => String(row.source_id))),

    /** Records to be read again because something that bore on them is gone or changed. */
    rechecks: (dataset: DatasetName): string[] => statements.rechecks.all(dataset).map((row) => String(row.source_id)),

    clearRechecks: (dataset: DatasetName, sourceIds: readonly string[]): void =>
      transaction(() => {
        for (const sourceId of sourceIds) statements.deleteRecheck.run(dataset, sourceId)
      }),

    forgetRecords: (locationId: string, dataset: DatasetName, sourceIds: Iterable<string>): void =>
      transaction(() => {
        for (const sourceId of sourceIds) {
          letGo(locationId, dataset, sourceId, [])
          statements.forgetRecord.run(locationId, dataset, sourceId)
          statements.clearRefused.run(locationId, dataset, sourceId)
        }
      }),

    refuse: (locationId: string, dataset: DatasetName, record: RefusedRecord): void => {
      statements.putRefused.run(locationId, dataset, record.sourceId, record.hash, record.errors, record.triedAtMs)
    },

    clearRefused: (locationId: string, dataset: DatasetName, sourceId: string): void => {
      statements.clearRefused.run(locationId, dataset, sourceId)
    },

    refusedRecords: (locationId: string, dataset: DatasetName): Map<string, RefusedRecord> =>
      new Map(
        statements.refused.all(locationId, dataset).map((row) => {
          const sourceId = String(row.source_id)
          return [
            sourceId,
            { sourceId, hash: String(row.hash), errors: String(row.errors), triedAtMs: Number(row.tried_at_ms) },
          ]
        }),
      ),

    /** What was last kept, when all of the dataset had been read with these notes; null before that. */
    notesRead: (dataset: DatasetName): string | null => get(`notes ${dataset}`),

    keepNotesRead: (dataset: DatasetName, notes: string) => statements.set.run(`notes ${dataset}`, notes),

    /** The number of the contract that all of the dataset was last read for; null: for the first one, or never. */
    contractRead: (dataset: DatasetName): number | null => {
      const number = get(`contract ${dataset}`)
      return number === null ? null : Number(number)
    },

    keepContractRead: (dataset: DatasetName, number: number) =>
      statements.set.run(`contract ${dataset}`, String(number)),

    datasetProgress: (dataset: DatasetName): { cursor: string | null; fullReadAtMs: number } => {
      const row = statements.dataset.get(dataset)
      return { cursor: textOrNull(row?.cursor), fullReadAtMs: Number(row?.full_read_at_ms ?? 0) }
    },

    finishDataset: (dataset: DatasetName, cursor: string, fullReadAtMs: number): void => {
      statements.putDataset.run(dataset, cursor, fullReadAtMs)
    },

    /** `isComplete` once a complete read was reported for this location; `isHeld` while a removal waits for a person. */
    locationProgress: (locationId: string, dataset: DatasetName): { isComplete: boolean; isHeld: boolean } => {
      const row = statements.locationDataset.get(locationId, dataset)
      return { isComplete: row?.is_complete === 1, isHeld: row?.is_held === 1 }
    },

    markComplete: (locationId: string, dataset: DatasetName): void => {
      statements.putComplete.run(locationId, dataset)
    },

    markHeld: (locationId: string, dataset: DatasetName, isHeld: boolean): void => {
      statements.putHeld.run(locationId, dataset, isHeld ? 1 : 0)
    },

    sentLocations: (): SourceLocation[] =>
      statements.locations.all().map((row) => JSON.parse(String(row.document)) as SourceLocation),

    keepSentLocations: (locations: readonly SourceLocation[]): void =>
      transaction(() => {
        for (const location of locations) statements.putLocation.run(location.source_id, JSON.stringify(location))
      }),

    /** What names the last report of locations that the service took, and when; null: none. */
    locationsSent: (): { key: string; atMs: number } | null => {
      const [atMs, key] = (get('locations_sent') ?? '').split(' ')
      return key === undefined ? null : { key, atMs: Number(atMs) }
    },

    keepLocationsSent: (key: string, atMs: number): void => {
      statements.set.run('locations_sent', `${atMs} ${key}`)
    },

    /** The source has the location no more. When it has it again, everything of it is sent again. */
    forgetLocation: (sourceId: string, locationId: string | undefined): void =>
      transaction(() => {
        statements.forgetLocation.run(sourceId)
        if (locationId === undefined) return
        for (const statement of statements.forgetLocationData) statement.run(locationId)
      }),

    close: (): void => database.close(),
  }
}

function prepare(database: DatabaseSync) {
  return {
    get: database.prepare('select value from setting where name = ?'),
    set: database.prepare(
      'insert into setting (name, value) values (?, ?) on conflict do update set value = excluded.value',
    ),
    forgetLocation: database.prepare('delete from location where source_id = ?'),
    forgetLocationData: ['record', 'refused', 'location_dataset'].map((table) =>
      database.prepare(`delete from ${table} where location_id = ?`),
    ),
    insertUpload: database.prepare(
      'insert into upload (number, location_id, dataset, body, bears_on) values (?, ?, ?, ?, ?)',
    ),
    pendingUpload: database.prepare(
      'select number, location_id, dataset, body, bears_on from upload order by number limit 1',
    ),
    deleteUpload: database.prepare('delete from upload where number = ?'),
    putRecord: database.prepare(
      `insert into record (location_id, dataset, source_id, hash, list_hash, bears_on) values (?, ?, ?, ?, ?, ?)
       on conflict do update set hash = excluded.hash, list_hash = excluded.list_hash, bears_on = excluded.bears_on`,
    ),
    hashOf: database.prepare('select hash from record where location_id = ? and dataset = ? and source_id = ?'),
    knownKeys: database.prepare('select source_id from record where location_id = ? and dataset = ?'),
    eachRecord: database.prepare(
      'select source_id, list_hash from record where location_id = ? and dataset = ? order by source_id',
    ),
    forgetHash: database.prepare("update record set hash = '' where location_id = ? and dataset = ? and source_id = ?"),
    bearsOn: database.prepare('select bears_on from record where location_id = ? and dataset = ? and source_id = ?'),
    knownBetween: database.prepare(
      'select source_id from record where location_id = ? and dataset = ? and source_id between ? and ?',
    ),
    markRead: database.prepare(
      'update record set read_number = ? where location_id = ? and dataset = ? and source_id = ?',
    ),
    unreadKeys: database.prepare(
      'select source_id from record where location_id = ? and dataset = ? and read_number <> ?',
    ),
    putRecheck: database.prepare('insert or ignore into recheck (dataset, source_id) values (?, ?)'),
    rechecks: database.prepare('select source_id from recheck where dataset = ?'),
    deleteRecheck: database.prepare('delete from recheck where dataset = ? and source_id = ?'),
    forgetRecord: database.prepare('delete from record where location_id = ? and dataset = ? and source_id = ?'),
    putRefused: database.prepare(
      `insert into refused (location_id, dataset, source_id, hash, errors, tried_at_ms) values (?, ?, ?, ?, ?, ?)
       on conflict do update set hash = excluded.hash, errors = excluded.errors, tried_at_ms = excluded.tried_at_ms`,
    ),
    clearRefused: database.prepare('delete from refused where location_id = ? and dataset = ? and source_id = ?'),
    refused: database.prepare(
      'select source_id, hash, errors, tried_at_ms from refused where location_id = ? and dataset = ?',
    ),
    dataset: database.prepare('select cursor, full_read_at_ms from dataset where dataset = ?'),
    putDataset: database.prepare(
      `insert into dataset (dataset, cursor, full_read_at_ms) values (?, ?, ?)
       on conflict do update set cursor = excluded.cursor, full_read_at_ms = excluded.full_read_at_ms`,
    ),
    locationDataset: database.prepare(
      'select is_complete, is_held from location_dataset where location_id = ? and dataset = ?',
    ),
    putComplete: database.prepare(
      `insert into location_dataset (location_id, dataset, is_complete) values (?, ?, 1)
       on conflict do update set is_complete = 1`,
    ),
    putHeld: database.prepare(
      `insert into location_dataset (location_id, dataset, is_held) values (?, ?, ?)
       on conflict do update set is_held = excluded.is_held`,
    ),
    locations: database.prepare('select document from location order by source_id'),
    putLocation: database.prepare(
      'insert into location (source_id, document) values (?, ?) on conflict do update set document = excluded.document',
    ),
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function linesOf(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? value.split('\n') : []
}

/** Only `beginUpload` writes this column. */
function datasetOf(value: unknown): DatasetName {
  return String(value) as DatasetName
}
