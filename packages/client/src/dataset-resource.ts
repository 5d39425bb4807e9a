import type { Connection } from './connection.ts'
import { refuseUnknownOptions } from './did-you-mean.ts'
import type { SyncType } from './events.ts'
import { wholePages } from './export.ts'
import { type DatasetTypes, datasets } from './generated.ts'
import type { LineBuffer } from './pages/line-buffer.ts'
import { type List, listOf, type Page, pageOf, recordOf } from './pages/page.ts'
import { createPageBuffer, type PageBuffer } from './pages/page-buffer.ts'

export type DatasetName = keyof DatasetTypes

/** The datasets' names, what others refer to first. */
// The keys of a literal are what the type says.
export const datasetNames = Object.keys(datasets) as DatasetName[]

/** A record as the service sends it: its attributes keep the names that the documentation uses. */
export type DatasetRecord<
  Name extends DatasetName = DatasetName,
  Field extends keyof DatasetTypes[Name]['attributes'] = keyof DatasetTypes[Name]['attributes'],
> = {
  id: string
  type: DatasetTypes[Name]['type']
  attributes: Pick<DatasetTypes[Name]['attributes'], Field>
}

type FilterOptions<Filter> = ('patient_id' extends Filter
  ? {
      /** Only records of this patient. */
      patientId?: string
    }
  : unknown) &
  ('starts_at' extends Filter
    ? {
        /** Only what starts at this moment or later. */
        startsFrom?: string | Date
        /** Only what starts before this moment. */
        startsTo?: string | Date
      }
    : unknown)

export type ListOptions<Name extends DatasetName, Field = keyof DatasetTypes[Name]['attributes']> = {
  locationId: string
  /** Only what changed since: the `watermark` of an earlier walk's first page. */
  modifiedSince?: string | Date
  /** The epoch of the page that gave `modifiedSince`: then a delta from before a restore of the service is whole, whatever the clocks say. */
  epoch?: string
  /** The attributes to return; all when left out. */
  fields?: readonly Field[]
  /** Records in a page: 1 to 5000. */
  pageSize?: number
  /** Begins after the page whose `next` this is. */
  after?: string
  signal?: AbortSignal
} & FilterOptions<DatasetTypes[Name]['filters']>

/** One dataset of all locations. */
export type DatasetResource<Name extends DatasetName> = {
  /** Every record that matches, removed ones (`is_hidden`) included, in ascending order of id. */
  list: <const Field extends keyof DatasetTypes[Name]['attributes'] = keyof DatasetTypes[Name]['attributes']>(
    options: ListOptions<Name, Field>,
  ) => List<DatasetRecord<Name, Field>>
  /**
   * The pages of `list`, each record as the JSON that the service sent, in UTF-8: for those who pass records on without looking into them, several times
   * faster and in little memory. The bytes of a page stay as they are: a program may ask for further pages before it has used them.
   */
  bytes: <const Field extends keyof DatasetTypes[Name]['attributes'] = keyof DatasetTypes[Name]['attributes']>(
    options: ListOptions<Name, Field>,
  ) => AsyncIterableIterator<Page<Uint8Array>>
  /**
   * Every record, as `bytes` gives them: in one response where the service has exports, which costs it far less than pages. What is cut is gone on
   * with.
   */
  export: (options: ExportOptions) => AsyncIterableIterator<Page<Uint8Array>>
  /** The first record that matches, or null. */
  first: <const Field extends keyof DatasetTypes[Name]['attributes'] = keyof DatasetTypes[Name]['attributes']>(
    options: ListOptions<Name, Field>,
  ) => Promise<DatasetRecord<Name, Field> | null>
  /** One record, with what its list leaves out. Throws ApiError `record_unknown`. */
  get: (options: { locationId: string; id: string; signal?: AbortSignal }) => Promise<DetailRecord<Name>>
}

export type ExportOptions = {
  locationId: string
  /** Records in a page: 1 to 5000. */
  pageSize?: number
  /** Begins after the page whose `next` this is. */
  after?: string
  signal?: AbortSignal
}

export type DetailRecord<Name extends DatasetName> = {
  id: string
  type: DatasetTypes[Name]['type']
  attributes: DatasetTypes[Name]['detail']
}

export const pageSizeDefault = 1000

/** The methods of one dataset. */
export function datasetResource<Name extends DatasetName>(connection: Connection, name: Name): DatasetResource<Name> {
  const known = listOptionsOf(name)
  const check = (method: string, options: object) => refuseUnknownOptions(`${camel(name)}.${method}`, options, known)
  const walk = <Item>(options: AnyListOptions): List<Item> =>
    listOf<Item>(options.after ?? null, (position, previous) =>
      fetchPage(connection, name, options, position, previous),
    )
  const bytesFrom = (options: AnyListOptions, first: string | null) =>
    listOf<Uint8Array>(first, (position, previous) =>
      fetchPage(connection, name, options, position, previous, createPageBuffer()),
    ).pages()
  return {
    list(options) {
      check('list', options)
      return walk(options)
    },
    bytes(options: AnyListOptions) {
      check('bytes', options)
      return bytesFrom(options, options.after ?? null)
    },
    export(options) {
      refuseUnknownOptions(`${camel(name)}.export`, options, exportOptions)
      const listFrom = (after: string | null) => bytesFrom(options, after)
      return walkWhole<Uint8Array>(connection, name, options, (lines) => lines.records(), listFrom)
    },
    async first(options) {
      check('first', options)
      for await (const record of walk<never>({ ...options, pageSize: 1 })) return record
      return null
    },
    async get({ locationId, id, signal }) {
      return recordOf(await connection.get(`${pathOf(locationId, name)}/${segment(id)}`, { signal }))
    },
  }
}

const exportOptions = ['locationId', 'pageSize', 'after', 'signal'] as const
const everyOption = ['locationId', 'modifiedSince', 'epoch', 'fields', 'pageSize', 'after', 'signal'] as const
const filterOptions = { patient_id: ['patientId'], starts_at: ['startsFrom', 'startsTo'] } as const

function listOptionsOf(name: DatasetName): readonly (keyof AnyListOptions)[] {
  return [...everyOption, ...datasets[name].filters.flatMap((filter) => filterOptions[filter])]
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** The options of any dataset's list. */
export type AnyListOptions = {
  locationId: string
  modifiedSince?: string | Date
  epoch?: string
  fields?: readonly PropertyKey[]
  pageSize?: number
  after?: string
  signal?: AbortSignal
  patientId?: string
  startsFrom?: string | Date
  startsTo?: string | Date
}

/** All pages of a whole dataset: of an export, or of the list of one by page number, which is small. */
export function walkWhole<Item>(
  connection: Connection,
  name: DatasetName,
  options: ExportOptions,
  read: (lines: LineBuffer) => Item[],
  listFrom: (after: string | null) => AsyncIterableIterator<Page<Item>>,
): AsyncIterableIterator<Page<Item>> {
  const { locationId, pageSize = pageSizeDefault, after = null, signal } = options
  if (datasets[name].pagination !== 'cursor') return listFrom(after)
  return wholePages({ connection, path: pathOf(locationId, name), locationId, after, pageSize, signal, read })
}

/** One page, in a sync slot of its location. */
export async function fetchPage<Item>(
  connection: Connection,
  name: DatasetName,
  options: AnyListOptions,
  position: string | null,
  previous: Pick<Page<Item>, 'grantedAt' | 'restoredAt'> | null,
  into?: PageBuffer,
): Promise<Page<Item>> {
  const { type, pagination } = datasets[name]
  const { locationId, modifiedSince, fields, pageSize = pageSizeDefault, signal } = options
  const query = new Map([['items', String(pageSize)]])
  if (position !== null) query.set(pagination === 'cursor' ? 'after' : 'page', position)
  if (modifiedSince !== undefined) query.set('q[fetch_modified_since]', textOf(modifiedSince))
  if (options.patientId !== undefined) query.set('q[patient_id]', options.patientId)
  if (options.startsFrom !== undefined) query.set('q[starts_from]', textOf(options.startsFrom))
  if (options.startsTo !== undefined) query.set('q[starts_to]', textOf(options.startsTo))
  if (fields !== undefined) query.set(`fields[${type}]`, fields.join(','))
  const isWhole = modifiedSince === undefined || (previous?.grantedAt ?? previous?.restoredAt ?? null) !== null
  const slotType: SyncType = isWhole ? 'initial' : 'incremental'
  const path = pathOf(locationId, name)
  return pageOf<Item>(
    await connection.get(path, {
      query,
      slot: { type: slotType, locationId },
      ...(options.epoch !== undefined && modifiedSince !== undefined && { headers: { 'x-epoch': options.epoch } }),
      signal,
      into,
    }),
  )
}

function pathOf(locationId: string, name: DatasetName): string {
  return `/locations/${segment(locationId)}/${name}`
}

/** A part of a path: `..` in a URL would be another path. */
export function segment(text: string): string {
  const encoded = encodeURIComponent(text)
  if (encoded === '' || /^\.{1,2}$/.test(encoded)) throw new TypeError(`${JSON.stringify(text)} is not an id`)
  return encoded
}

function textOf(moment: string | Date): string {
  return typeof moment === 'string' ? moment : moment.toISOString()
}
