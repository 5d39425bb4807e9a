import type {
  Action,
  actions,
  PortalAnswers,
  PortalBodies,
  PortalRouteName,
  portalRoutes,
  Side,
} from '@bridgework/contract/portal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProofAccess } from '../../../modules/directory/domain-proof.ts'
import type { SandboxDrive } from '../../../modules/faults/drive.ts'
import type { ProviderAccess } from '../../../modules/identity-provider/open-id-connect.ts'
import type { Incident } from '../../../modules/incidents/incident.ts'
import type { LiveWatch } from '../../../modules/live/live-watch.ts'
import type { InstallationSurvey } from '../../../modules/overview/installation-survey.ts'
import type { Auth } from '../../../modules/sign-in/auth.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import type { WebhookAccess } from '../../../modules/webhooks/attempt.ts'
import type { VendorApiContext } from '../../vendor-api/context.ts'
import type { Membership } from './membership.ts'

/** What the portal's API works with. */
export type PortalContext = Pick<
  VendorApiContext,
  'pool' | 'secretKey' | 'tokens' | 'lastContactOf' | 'now' | 'log' | 'slots' | 'tokenLimit'
> & {
  auth: Auth
  live: LiveWatch
  installationSurvey: () => Promise<InstallationSurvey>
  publicStatus: () => Promise<Incident[]>
  publicUrl: string
  environment: 'sandbox' | 'production'
  /** What vendors drive, in a sandbox; null: nothing. */
  drive: SandboxDrive | null
  /** The folder that the sandbox's mails go to; null: they are sent. */
  mailDir: string | null
  /** The client's package that this service hands out; null: none. */
  clientPackage: () => Promise<{ url: string; sha256: string } | null>
  /** The names of the agent's packages that this service hands out. */
  agentPackages: () => Promise<string[]>
  /** Called when a sign-up was completed. */
  onSignUp: () => void
  /** How identity providers of customers are called. */
  providerAccess: ProviderAccess
  /** How proofs of companies' websites are looked for. */
  proofAccess: ProofAccess
  /** How endpoints of webhooks are called. */
  webhookAccess: WebhookAccess
}

/** One request of a route, after every gate: parsed, signed in where the route asks for it, and permitted. */
export type Call<Name extends PortalRouteName> = {
  person: PersonOf<Name>
  /** Whom the person acts for: the tenant of the path, of the side that the action belongs to. */
  member: MemberOf<Name>
  params: Record<string, string>
  /** Parameters of the query that the route takes; absent ones are ''. */
  query: Record<string, string>
  body: Name extends keyof PortalBodies ? PortalBodies[Name] : undefined
  ip: string
  requestId: string
  request: FastifyRequest
  reply: FastifyReply
}

export type PortalHandler<Name extends PortalRouteName> = (
  context: PortalContext,
  call: Call<Name>,
) => Promise<PortalAnswers[Name]>

/** One API file's share of the routes. */
export type PortalHandlers<Name extends PortalRouteName = PortalRouteName> = { [name in Name]: PortalHandler<name> }

type GateOf<Name extends PortalRouteName> = (typeof portalRoutes)[Name]['action']
type PersonOf<Name extends PortalRouteName> = GateOf<Name> extends 'anyone' ? null : Person
type MemberOf<Name extends PortalRouteName> = GateOf<Name> extends infer Act extends Action ? MembershipFor<Act> : null
/** An action of no side of its own is done for any. */
type MembershipFor<Act extends Action> = (typeof actions)[Act]['side'] extends infer S extends Side
  ? Membership<S>
  : Membership
