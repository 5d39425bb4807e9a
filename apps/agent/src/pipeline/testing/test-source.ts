import type {
  Connector,
  DatasetName,
  FullReadReason,
  SourceCycle,
  SourceLocation,
  SourceRecord,
} from '../../connector.ts'

export type TestSource = Connector & {
  /** The source's content; a test changes it at will. Keyed by dataset, then by source id. */
  readonly content: Record<DatasetName, Map<string, SourceRecord>>
  locationIds: string[]
  /** Keys that the next read will be told of as changed, besides those the pipeline misses by itself. */
  changed: Record<DatasetName, string[]>
  fullBecause: FullReadReason | null
  /** True: names what is gone and reads everything without a list of keys, as a connector to large tables does. */
  namesGone: boolean
  /** Called by `confirm`; throws to say that the source was not quiet. */
  confirm: () => void
  reads: { dataset: DatasetName; keys: readonly string[] }[]
}

/** A source in memory that behaves as the interface says: for what the pipeline promises whatever the connector. */
export function testSource(): TestSource {
  const source: TestSource = {
    name: 'test',
    datasets: ['fee_schedules', 'insurance_plans'],
    content: forEachDataset(() => new Map<string, SourceRecord>()),
    locationIds: ['1'],
    changed: forEachDataset((): string[] => []),
    fullBecause: null,
    namesGone: false,
    confirm: () => {},
    reads: [],
    check: async () => ({ findings: [], now: null }),
    beginCycle: async () => {
      if (!source.namesGone) return cycle
      return {
        ...cycle,
        listKeys: async () => {
          throw new Error('a list was asked for')
        },
        scan: async (dataset) => {
          const keys = [...source.content[dataset].keys()]
          let rowsRead = 0
          const chunks = async function* () {
            for await (const chunk of cycle.readRecords(dataset, keys)) {
              rowsRead = Math.min(rowsRead + 50, keys.length)
              yield chunk
            }
          }
          return { rowsMax: keys.length, rowsRead: () => rowsRead, chunks: chunks() }
        },
      }
    },
  }
  const cycle: SourceCycle = {
    readLocations: async () => source.locationIds.map(testLocation),
    listKeys: async (dataset) => {
      const keys = [...source.content[dataset].keys()]
      return new Map(source.locationIds.map((id) => [id, keys]))
    },
    findChanges: async (dataset, cursor) => {
      if (cursor === null) return { keys: 'all', because: 'first_read', cursor: 'c' }
      if (source.fullBecause !== null) return { keys: 'all', because: source.fullBecause, cursor: 'c' }
      return { keys: source.changed[dataset], cursor: 'c', namesGone: source.namesGone }
    },
    async *readRecords(dataset, keys) {
      source.reads.push({ dataset, keys })
      for (let start = 0; start < keys.length; start += 50) {
        const slice = keys.slice(start, start + 50)
        const records = slice.map((key) => source.content[dataset].get(key)).filter((record) => record !== undefined)
        yield new Map(source.locationIds.map((id) => [id, records]))
      }
    },
    confirm: async () => source.confirm(),
    end: async () => {},
  }
  return source
}

function forEachDataset<T>(make: () => T): Record<DatasetName, T> {
  return {
    fee_schedules: make(),
    insurance_plans: make(),
    patients: make(),
    appointments: make(),
    treatments: make(),
    ledger_transactions: make(),
    patient_referrals: make(),
  }
}

export function testPlan(sourceId: string, name: string): SourceRecord {
  return {
    source_id: sourceId,
    attributes: {
      plan_name: name,
      group_number: null,
      carrier_name: null,
      payer_id: null,
      employer_name: null,
      plan_type: null,
      renewal_month: null,
      is_hidden: false,
      fee_schedule_source_id: null,
    },
  }
}

function testLocation(sourceId: string): SourceLocation {
  return {
    source_id: sourceId,
    name: `Location ${sourceId}`,
    address_line_1: null,
    address_line_2: null,
    city: null,
    state: null,
    postal_code: null,
    country: 'US',
    phone: null,
    email: null,
    website_url: null,
    time_zone: 'UTC',
    currency: 'USD',
    is_active: true,
    practice_management_system: { name: 'Test', version: null },
  }
}
