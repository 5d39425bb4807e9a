type Route = { method: 'GET' | 'POST'; path: string }

export const ingestApiPath = '/ingest/v1'

/** The header in which an agent says which version of the protocol it speaks, and in which every answer says the service's. */
export const ingestVersionHeader = 'Bridgework-Ingest-Version'

/**
 * The protocol's version: a whole number that rises when a release adds something. Nothing is taken away: an agent that sends no header speaks 1
 * and is served as before.
 */
export const ingestVersion = 1

/**
 * The header in which an agent says, at `identifyAgent` and `heartbeat`, which of its uploads the service has acknowledged last, and in which epoch: `<number> <epoch>`.
 * A service of that epoch that never had the number lost it.
 */
export const acknowledgedHeader = 'Bridgework-Ingest-Acknowledged'

/** The header in which an agent says, with every request, which process of it speaks: the name that `processStart` has of it. */
export const processHeader = 'Bridgework-Ingest-Process'

/** The header of `heartbeat` in which a process says how it came to be, as `packProcessStart` writes it. */
export const processStartHeader = 'Bridgework-Ingest-Start'

/** The header in which an agent says the number of the contract that it knows, and in which every answer says the service's. Absent: 1. */
export const contractHeader = 'Bridgework-Contract'

/** Every route of the ingest API. The server registers these and no other; agents call these and no other. */
export const ingestRoutes = {
  /** The only one without an agent's key: an enrolment code becomes one. */
  enrolAgent: { method: 'POST', path: '/agents' },
  identifyAgent: { method: 'GET', path: '/agents/self' },
  /** Says how the agent is and confirms what it has read; the only request of a cycle that finds nothing to send. */
  heartbeat: { method: 'POST', path: '/agents/self/heartbeats' },
  /** One part of the signed file of a release that the agent was offered. */
  getReleasePart: { method: 'GET', path: '/agents/self/releases/:version/parts/:number' },
  /** An agent says that it did not take a release. */
  reportRelease: { method: 'POST', path: '/agents/self/releases/:version/failures' },
  sendLocations: { method: 'POST', path: '/organizations/:organization_id/locations' },
  /** Takes lines of JSON and an Idempotency-Key. */
  sendRecords: { method: 'POST', path: '/locations/:location_id/:dataset/records' },
  /** A complete list of any length: begun, sent in slices, finished. */
  beginList: { method: 'POST', path: '/locations/:location_id/:dataset/complete_lists' },
  /** Takes lines of JSON: see `sliceLines`. */
  sendListSlice: { method: 'POST', path: '/locations/:location_id/:dataset/complete_lists/:list_id/slices' },
  finishList: { method: 'POST', path: '/locations/:location_id/:dataset/complete_lists/:list_id/finish' },
} as const satisfies Record<string, Route>

export type IngestRouteName = keyof typeof ingestRoutes

type Parameters<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parameters<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** What stands in a route's path. */
export type IngestParameters<Name extends IngestRouteName> = Record<
  Parameters<(typeof ingestRoutes)[Name]['path']>,
  string
>

/** The address of a route below the service's own. */
export function ingestUrl<Name extends IngestRouteName>(name: Name, parameters: IngestParameters<Name>): string {
  const values: Record<string, string> = parameters
  const path = ingestRoutes[name].path.replace(/:(\w+)/g, (_, each: string) => encodeURIComponent(values[each] ?? ''))
  return `${ingestApiPath}${path}`
}
