import { join } from 'node:path'
import { type DatasetName, vendorApiPath } from '@bridgework/contract'
import { ingestApiPath } from '@bridgework/contract/ingest'
import { portalApiPath } from '@bridgework/contract/portal'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { registerAttribution } from './apis/attribution/routes.ts'
import { registerIngestApi } from './apis/ingest/routes.ts'
import { registerPortalApi } from './apis/portal/routes.ts'
import { findClientPackage, listAgentPackages, registerDownloads } from './apis/portal-pages/downloads.ts'
import { registerGuides } from './apis/portal-pages/guides.ts'
import { createPageSender, isPageRequest, registerPortalPages } from './apis/portal-pages/pages.ts'
import { registerSandboxApi, sandboxApiPath } from './apis/sandbox/routes.ts'
import type { VendorApiContext } from './apis/vendor-api/context.ts'
import { authenticateUnknownPath, registerVendorApi } from './apis/vendor-api/routes.ts'
import { createLastContacts } from './modules/agents/agent-contact.ts'
import { type ChangeWatch, createChangeWatch } from './modules/changes/change-watch.ts'
import { createTokenIssuer, type TokenIssuer } from './modules/credentials/access-token.ts'
import type { KeyRing } from './modules/credentials/key-ring.ts'
import type { SecretKey } from './modules/credentials/secret.ts'
import type { SeenStamps } from './modules/datasets/seen-stamps.ts'
import { createProofAccess, type ProofAccess } from './modules/directory/domain-proof.ts'
import { createSmallReader } from './modules/disclosure/small-read.ts'
import type { DisclosureWriter } from './modules/disclosure/writer.ts'
import type { DemoPractices } from './modules/faults/drive.ts'
import { createVendorFaults } from './modules/faults/vendor-faults.ts'
import { createPublicStatus } from './modules/incidents/public-status.ts'
import { createLiveWatch, type LiveWatch } from './modules/live/live-watch.ts'
import { createLocationLists } from './modules/overview/granted-location.ts'
import { createOrganizationLists } from './modules/overview/granted-organization.ts'
import { createInstallationSurvey } from './modules/overview/installation-survey.ts'
import { createPageReader } from './modules/records/read/page.ts'
import { createAuth } from './modules/sign-in/auth.ts'
import type { PasswordHash } from './modules/sign-in/password/password-hash.ts'
import { createRequestTurns, type RequestTurns } from './modules/throttle/request-turns.ts'
import type { SyncSlots } from './modules/throttle/sync-slots.ts'
import type { TokenLimit } from './modules/throttle/token-limit.ts'
import type { UsageRecorder } from './modules/usage/recorder.ts'
import { createWebhookAccess, type WebhookAccess } from './modules/webhooks/attempt.ts'
import { registerHealth } from './platform/http/health.ts'
import { registerMetrics } from './platform/http/metrics-route.ts'
import { createHttpServer, type HttpServerOptions } from './platform/http/server.ts'
import type { Log } from './platform/log/log-event.ts'
import type { LoadWatch } from './platform/memory/load-watch.ts'
import { createMetrics, type Metrics } from './platform/metrics/metrics.ts'
import { createOutgoing } from './platform/outgoing/outgoing.ts'

const portalDir = join(import.meta.dirname, '../../portal/dist')
const guidesDir = join(import.meta.dirname, '../../guides/dist')
const downloadsDir = join(import.meta.dirname, '../dist/downloads')

export type AppDeps = {
  pool: Pool
  /** Connections for health, keys and permits, where they have their own. */
  controlPool?: Pool
  /** Made with `smallReadConnections`. */
  smallReadPool: Pool
  secretKey: SecretKey
  keys: KeyRing
  tokenLimit: TokenLimit
  slots: SyncSlots
  disclosures: DisclosureWriter
  usage: UsageRecorder
  seenStamps: SeenStamps
  /** Made by the caller where requests that wait for changes are to end before the app closes. */
  changes?: ChangeWatch
  /** The same for pages that are told of changes. */
  live?: LiveWatch
  environment: 'sandbox' | 'production'
  /** The address that the outside world uses: issuer of tokens and base of links. */
  publicUrl: string
  trustedProxies: readonly string[]
  previewDatasets: ReadonlySet<DatasetName>
  /** The folder that the sandbox's mails go to; null: they are sent. */
  mailDir: string | null
  now: () => Date
  log: Log
  http?: Partial<HttpServerOptions>
  load: LoadWatch
  /** Made by the caller where another server shows them, too. */
  metrics?: Metrics
  /** Who gets /metrics here; null: it is on a port of its own. Absent: callers on this machine. */
  metricsAccess?: { token: string | null } | null
  /** Called when somebody has signed up in the portal. */
  onSignUp?: () => void
  /** What vendors may drive, in a sandbox. */
  practices?: DemoPractices
  /** The operator's folder with installers, which /downloads/ serves too; absent: none. */
  downloadsDir?: string | null
  /** Where the portal's pages were built, where the clone's own are not meant. */
  portalDir?: string
  /** How passwords are hashed, where scrypt at its full cost is not meant. */
  passwordHash?: PasswordHash
  /** How proofs of companies' websites are looked for, where public addresses over https are not meant. */
  proofAccess?: ProofAccess
  /** How endpoints of webhooks are called, where the environment's way is not meant. */
  webhookAccess?: WebhookAccess
  /** Ends requests to identity providers and tests of webhooks, with its reason; absent: nothing does. */
  stopping?: AbortSignal
  /** How much of vendors' answers may be in memory at one time, where the usual bounds are not meant. */
  requests?: RequestTurns
  /** How long a reader of a page may take, where `sendBody`'s own times are not meant. */
  reader?: VendorApiContext['reader']
}

/** The issuer whose tokens the app with this public URL takes. */
export function tokenIssuerOf(deps: Pick<AppDeps, 'publicUrl' | 'keys' | 'now'>): TokenIssuer {
  return createTokenIssuer({
    issuer: deps.publicUrl,
    audience: `${deps.publicUrl}${vendorApiPath}`,
    keys: deps.keys,
    now: deps.now,
  })
}

/** The whole service as a value: every route, nothing started. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { pool, secretKey, keys, now, publicUrl } = deps
  const controlPool = deps.controlPool ?? pool
  const metrics = deps.metrics ?? createMetrics({ work: pool, control: controlPool }, deps.load)
  const log: Log = (event) => {
    metrics.observe(event)
    deps.usage.observe(event)
    deps.log(event)
  }
  const isSandbox = deps.environment === 'sandbox'
  const drive = isSandbox && deps.practices ? { pool, faults: createVendorFaults(), practices: deps.practices } : null
  const context: VendorApiContext = {
    faults: drive?.faults ?? null,
    pool,
    controlPool,
    tokens: tokenIssuerOf(deps),
    secretKey,
    tokenLimit: deps.tokenLimit,
    slots: deps.slots,
    load: deps.load,
    requests: deps.requests ?? createRequestTurns(),
    disclosures: deps.disclosures,
    smallReads: createSmallReader({ pool, smallReadPool: deps.smallReadPool, controlPool, log }),
    pages: createPageReader(pool, now, log),
    locationLists: createLocationLists(pool),
    organizationLists: createOrganizationLists(pool),
    changes: deps.changes ?? createChangeWatch({ pool: controlPool, log }),
    seenStamps: deps.seenStamps,
    lastContactOf: createLastContacts({ pool, now }),
    previewDatasets: deps.previewDatasets,
    now,
    log,
    reader: deps.reader ?? {},
  }
  const dir = deps.portalDir ?? portalDir
  const sendPage = createPageSender({ dir, publicUrl, environment: deps.environment })
  const app = createHttpServer({
    log,
    trustedProxies: deps.trustedProxies,
    publicUrl,
    load: deps.load,
    unknownPage: (request, reply) => (isPageRequest(request) ? sendPage(request, reply.code(404)) : null),
    beforeRefusal: (request, route) => authenticateUnknownPath(context, request, route),
    ...deps.http,
  })
  const live = deps.live ?? createLiveWatch({ pool: controlPool, now, log })
  app.addHook('preClose', async () => {
    await Promise.all([context.changes.stop(), live.stop()])
  })
  registerHealth(app, { pool: controlPool, now })
  const { metricsAccess = { token: null } } = deps
  if (metricsAccess !== null) registerMetrics(app, metrics, { ...metricsAccess, isOpen: false })
  app.get('/.well-known/jwks.json', async () => keys.jwks())
  await registerPortalPages(app, {
    dir,
    sendPage,
    about: {
      service: 'Bridgework',
      guides: `${publicUrl}/guides`,
      reference: `${publicUrl}/docs`,
      openapi: `${publicUrl}${vendorApiPath}/openapi.json`,
      base_url: `${publicUrl}${vendorApiPath}`,
    },
  })
  await registerGuides(app, { dir: guidesDir, publicUrl })
  const downloads = [downloadsDir, ...(deps.downloadsDir ? [deps.downloadsDir] : [])]
  await registerDownloads(app, downloads)
  await registerVendorApi(app, context, publicUrl)
  if (drive) {
    await app.register(async (api) => registerSandboxApi(api, { controlPool, tokens: context.tokens, drive }), {
      prefix: sandboxApiPath,
    })
  }
  await app.register(
    async (ingestApi) =>
      registerIngestApi(ingestApi, {
        pool,
        secretKey,
        tokenLimit: deps.tokenLimit,
        load: deps.load,
        seenStamps: deps.seenStamps,
        now,
        log,
      }),
    { prefix: ingestApiPath },
  )
  await app.register(async (attribution) => registerAttribution(attribution, { pool, publicUrl, now, log }), {
    prefix: '/attribution',
  })
  const auth = createAuth({ pool, secretKey, publicUrl, ...(deps.passwordHash && { passwordHash: deps.passwordHash }) })
  await app.register(
    async (portalApi) =>
      registerPortalApi(portalApi, {
        ...context,
        auth,
        live,
        installationSurvey: createInstallationSurvey({ pool, now }),
        publicStatus: createPublicStatus({ pool, now }),
        publicUrl,
        environment: deps.environment,
        drive,
        mailDir: deps.mailDir,
        clientPackage: () => findClientPackage(downloadsDir, publicUrl),
        agentPackages: () => listAgentPackages(downloads),
        onSignUp: deps.onSignUp ?? (() => {}),
        proofAccess: deps.proofAccess ?? createProofAccess(),
        webhookAccess: deps.webhookAccess ?? createWebhookAccess({ allowPrivate: isSandbox, stopping: deps.stopping }),
        // The sandbox may call what runs beside it.
        providerAccess: {
          ...createOutgoing({ allowPrivate: isSandbox, stopping: deps.stopping }),
          allowHttp: isSandbox,
        },
      }),
    { prefix: portalApiPath },
  )
  return app
}
