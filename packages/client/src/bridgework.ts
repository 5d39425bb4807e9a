import { type ChangesResource, changesResource } from './changes-resource.ts'
import { type Connection, createConnection, type RetryOptions } from './connection.ts'
import { type DatasetName, type DatasetResource, datasetResource } from './dataset-resource.ts'
import { refuseUnknownOptions } from './did-you-mean.ts'
import {
  type LocationsResource,
  locationsResource,
  type OrganizationsResource,
  organizationsResource,
} from './directory-resource.ts'
import type { ClientEvent } from './events.ts'
import type { SyncStore } from './sync/store.ts'
import { type SyncOptions, type SyncReport, sync } from './sync/sync.ts'
import { type Verification, type VerifyOptions, verify } from './sync/verify.ts'
import { createSyncSlots } from './sync-slots.ts'
import { createAccessTokens, tokenKeyOf } from './tokens/access-token.ts'
import { memoryTokenStore, type TokenStore } from './tokens/token-store.ts'
import { inTurn } from './turns.ts'
import { clientVersion } from './version.ts'

export type BridgeworkOptions = {
  clientId: string
  /** Stays on servers: this package refuses to run in a browser. */
  clientSecret: string
  /** Ends with /api/v1/vendors; that path is added when it is left out. */
  baseUrl: string
  /** Where the token is kept: memory, unless processes are short and should share one. */
  tokenStore?: TokenStore
  /** How many locations may have requests in flight; less when the service says so. 5 and 25 when left out. */
  concurrency?: { initial?: number; incremental?: number }
  /** 10 attempts, with pauses of at most 15 s of our own choosing. */
  retry?: Partial<RetryOptions>
  /** Time limit of one attempt; a minute when left out. */
  timeoutMs?: number
  /** What happens, for logs and metrics. */
  onEvent?: (event: ClientEvent) => void
  /** Another fetch: for proxies, or tests. */
  fetch?: typeof fetch
}

/** The vendor API. One for each process: it shares its token and its sync slots among all calls. */
export class Bridgework {
  readonly baseUrl: string
  readonly locations: LocationsResource
  readonly organizations: OrganizationsResource
  /** What changed of all that may be read, in one request. */
  readonly changes: ChangesResource
  readonly feeSchedules: DatasetResource<'fee_schedules'>
  readonly insurancePlans: DatasetResource<'insurance_plans'>
  readonly patients: DatasetResource<'patients'>
  readonly appointments: DatasetResource<'appointments'>
  readonly treatments: DatasetResource<'treatments'>
  readonly ledgerTransactions: DatasetResource<'ledger_transactions'>
  readonly patientReferrals: DatasetResource<'patient_referrals'>
  readonly #connection: Connection

  constructor(options: BridgeworkOptions) {
    refuseBrowsers()
    const { clientId, clientSecret, tokenStore = memoryTokenStore(), onEvent = () => {} } = options
    for (const [name, value] of Object.entries({ clientId, clientSecret })) {
      if (typeof value !== 'string' || value === '') throw new TypeError(`Bridgework needs the option ${name}.`)
    }
    this.baseUrl = baseUrlOf(options.baseUrl)
    const connection = createConnection({
      baseUrl: this.baseUrl,
      clientId,
      clientSecret,
      fetch: options.fetch ?? fetch,
      tokens: () => tokens,
      slots: createSyncSlots({
        initial: options.concurrency?.initial ?? 5,
        incremental: options.concurrency?.incremental ?? 25,
      }),
      retry: { attempts: 10, delayMaxMs: 15_000, ...options.retry },
      timeoutMs: options.timeoutMs ?? 60_000,
      userAgent: `bridgework-client/${clientVersion}`,
      onEvent,
    })
    const tokens = createAccessTokens({
      key: tokenKeyOf(this.baseUrl, clientId, clientSecret),
      store: tokenStore,
      request: (signal) => connection.requestToken(signal),
      now: Date.now,
      onEvent,
    })
    this.#connection = connection
    this.locations = locationsResource(connection)
    this.organizations = organizationsResource(connection)
    this.changes = changesResource(connection)
    this.feeSchedules = datasetResource(connection, 'fee_schedules')
    this.insurancePlans = datasetResource(connection, 'insurance_plans')
    this.patients = datasetResource(connection, 'patients')
    this.appointments = datasetResource(connection, 'appointments')
    this.treatments = datasetResource(connection, 'treatments')
    this.ledgerTransactions = datasetResource(connection, 'ledger_transactions')
    this.patientReferrals = datasetResource(connection, 'patient_referrals')
  }

  /** A dataset by its name in the API: `client.dataset('insurance_plans')` is `client.insurancePlans`. */
  dataset<Name extends DatasetName>(name: Name): DatasetResource<Name> {
    return datasetResource(this.#connection, name)
  }

  /**
   * Brings a copy up to date, once: first walks where there is none, walks that broke off, and changes. Whatever happens to the process, the next call
   * goes on where the store is. Calls for one store object run one after the other. Throws on wrong credentials, when the list of locations cannot be
   * had, on a store that fails, with StoreConflictError when another process writes to the copy, and on abort; what else fails is in the report.
   */
  async sync(options: SyncOptions): Promise<SyncReport> {
    refuseUnknownOptions('sync', options, ['store', 'locations', 'datasets', 'pageSize', 'signal', 'onEvent'])
    const reach = { connection: this.#connection, locations: this.locations, organizations: this.organizations }
    return inTurn(storeTurns, options.store, () => sync(reach, options))
  }

  /** Compares a copy with the service, record by record, and mends it. Takes its turn among the store's syncs. */
  async verify(options: VerifyOptions): Promise<Verification[]> {
    refuseUnknownOptions('verify', options, ['store', 'locations', 'datasets', 'repair', 'signal'])
    const reach = { connection: this.#connection, locations: this.locations }
    return inTurn(storeTurns, options.store, () => verify(reach, options))
  }
}

const storeTurns = new WeakMap<SyncStore, Promise<unknown>>()

const vendorApiPath = '/api/v1/vendors'

function baseUrlOf(text: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new TypeError(`baseUrl is not a URL, like https://api.example.com${vendorApiPath}: ${String(text)}`, {
      cause,
    })
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('baseUrl must begin with https://')
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must not contain credentials, a query or a fragment.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  return url.origin + (path === '' ? vendorApiPath : path)
}

function refuseBrowsers(): void {
  const page = globalThis as { window?: unknown; document?: unknown }
  if (page.window !== undefined && page.document !== undefined) {
    throw new Error('This package is for servers. A client secret in a browser is public.')
  }
}
