import { type DatasetName, findDataset } from '@bridgework/contract'
import type { Answer } from './sent/send.ts'

/** One sending of a request of a vendor. `path`: below the vendor API. */
export type Attempt = {
  companyId: string
  keyPairId: string
  ip: string
  method: string
  path: string
  /** Whether the answer is known without reading a record, which is no disclosure; null: perhaps. */
  isKnown: boolean | null
  answer: Answer
}

/** What a request for records got, as its entry must say it. */
export type Bill = Omit<Attempt, 'answer'> & {
  locationId: string
  dataset: DatasetName
  requestId: string | null
  begunAtMs: number
  endedAtMs: number
  /** `whole`: exactly one entry must say this. `cut`: entries must cover at least this. `refused`: there may be entries. `none`: there is none. */
  outcome: 'whole' | 'cut' | 'refused' | 'none'
  after: string
  /** Ids of the records that arrived, in their order. */
  ids: string[]
  /** Whether any part of a record arrived. */
  hasSome: boolean
  counted: number | null
  /** The last id that a digest covers, of so many records. */
  digested: { lastId: string; records: number } | null
  isExport: boolean
  fields: string[] | null
}

/** The model's own record of what was asked and got, until it was held against the disclosures. */
export type Books = { take: (attempt: Attempt) => void; close: () => Bill[] }

export function createBooks(): Books {
  let bills: Bill[] = []
  return {
    take(attempt) {
      const bill = billOf(attempt)
      if (bill) bills.push(bill)
    },
    close() {
      const closed = bills
      bills = []
      return closed
    },
  }
}

const datasetPath = /^\/locations\/(\d+)\/([a-z_]+)(?:\/(\w+))?(?:\?(.*))?$/

/** Null: a request that can have no entry. */
function billOf({ answer, ...asked }: Attempt): Bill | null {
  const [, locationId, name = '', rest, query = ''] = datasetPath.exec(asked.path) ?? []
  const definition = findDataset(name)
  if (locationId === undefined || !definition || answer.outcome === 'unsent') return null
  const parameters = new URLSearchParams(query)
  const bill: Bill = {
    ...asked,
    locationId,
    dataset: definition.name,
    requestId: answer.headers['x-request-id']?.toString() ?? null,
    begunAtMs: answer.begunAtMs,
    endedAtMs: answer.endedAtMs,
    outcome: 'none',
    after: parameters.get('after') ?? '0',
    ids: [],
    hasSome: answer.text.includes('"attributes"'),
    counted: null,
    digested: null,
    isExport: rest === 'export',
    fields: parameters.get(`fields[${definition.type}]`)?.split(',') ?? null,
  }
  const { outcome, status, text } = answer
  if (status === 429 || status === 503) return { ...bill, outcome: 'refused' }
  if (status !== null && status !== 200) return bill
  if (outcome === 'cut') return { ...bill, outcome: 'cut', ids: bill.isExport ? linesOf(text).map(({ id }) => id) : [] }
  if (asked.method === 'HEAD') {
    const isRecord = rest !== undefined && /^\d+$/.test(rest)
    return isRecord ? { ...bill, outcome: 'whole', counted: 1, ids: [rest] } : bill
  }
  if (bill.isExport)
    return withIds(
      bill,
      linesOf(text).map(({ id }) => id),
    )
  const { data, pagy } = JSON.parse(text)
  if (rest === 'digest') {
    const records = data.reduce((sum: number, range: DigestRange) => sum + range.attributes.records, 0)
    return data.length === 0 ? bill : { ...bill, outcome: 'whole', digested: { lastId: data.at(-1).id, records } }
  }
  if (rest !== undefined) return withIds(bill, [data.id])
  const isCounted = ['q[patient_id]', 'q[starts_from]', 'q[starts_to]'].some((filter) => parameters.has(filter))
  const listed = withIds(
    bill,
    data.map(({ id }: { id: string }) => id),
  )
  return isCounted && asked.isKnown !== true ? { ...listed, outcome: 'whole', counted: pagy.total } : listed
}

type DigestRange = { attributes: { records: number } }

function withIds(bill: Bill, ids: string[]): Bill {
  return ids.length === 0 ? bill : { ...bill, outcome: 'whole', ids }
}

/** The whole records of an export, or of what there is of it. */
export function linesOf(text: string): { id: string; type: string; attributes: Record<string, unknown> }[] {
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
  return lines.filter((line) => 'attributes' in line)
}

/** The last line of an export; null where it did not come. */
export function metaOf(text: string): ExportMeta | null {
  const last = text.split('\n').at(-2)
  return last?.startsWith('{"meta":') ? JSON.parse(last).meta : null
}

export type ExportMeta = {
  has_more: boolean
  next_after: string | null
  records: number
  next_fetch_modified_since: string | null
}
