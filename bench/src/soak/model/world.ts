import type { DatasetName } from '@bridgework/contract'
import type { Random } from '@bridgework/practice-simulator'
import type { SecretKey } from '@bridgework/server/src/modules/credentials/secret.ts'
import type {
  AgentId,
  CompanyId,
  KeyPairId,
  MemberId,
  OrganizationId,
} from '@bridgework/server/src/platform/identity/identity.ts'
import type { Pool } from 'pg'
import type { ModelAccess } from './access.ts'
import type { Books } from './books.ts'
import type { ModelLocation } from './model.ts'
import type { Service } from './service.ts'

export type Company = {
  id: CompanyId
  ownerId: MemberId
  keyPairId: KeyPairId
  clientId: string
  clientSecret: string
  /** By server, because their clocks may differ by more than a token bears. */
  tokens: Map<string, string>
}

/** `number`: that of its next upload; `sinceNumber`: what that was when it began to write. */
export type Agent = { agentId: AgentId; agentKey: string; number: number; sinceNumber: number }

export type Organization = {
  id: OrganizationId
  /** The one that writes at its locations, and the one that waits. */
  agent: Agent
  other: Agent
  locations: ModelLocation[]
  random: Random
}

/** A fault that the model must find: an acknowledged upload that it does not know of, or a disclosure that its audit does not see. */
export type Planted = 'upload' | 'disclosure' | null

export type World = {
  service: Service
  secretKey: SecretKey
  /** As the server's role, for what people do. */
  pool: Pool
  /** As the owner of the schema, for what the model asks of the database. */
  ownerPool: Pool
  organizations: Organization[]
  companies: Company[]
  access: ModelAccess
  books: Books
  /** Chance of what is not a step: which server is asked, from which address, packed or not. It draws as often as something is sent again. */
  wire: Random
  counts: Record<CountName, number>
  planted: Planted
  /** What ended the run: whoever waits gives up. */
  failure: unknown
  /** The last steps at each location. */
  note: (locationId: string, step: string) => void
  stepsOf: (locationId: string) => readonly string[]
}

type CountName =
  | 'uploads'
  | 'lists'
  | 'reads'
  | 'deltas'
  | 'walks'
  | 'exports'
  | 'cuts'
  | 'acts'
  | 'refusals'
  | 'retries'

/** The location's organization. */
export function organizationOf(world: World, location: ModelLocation): Organization {
  const found = world.organizations.find(({ id }) => id === location.organizationId)
  if (!found) throw new Error('a location without an organization')
  return found
}

export function allLocations(world: World): ModelLocation[] {
  return world.organizations.flatMap(({ locations }) => locations)
}

/** Whether any company may read notes of the dataset now. */
export function hasNotes(world: World, location: ModelLocation, dataset: DatasetName): boolean {
  const ids = world.companies.map(({ id }) => id)
  return world.access.hasNotes(ids, location.id, dataset)
}
