import { randomUUID } from 'node:crypto'
import type { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { type AppDeps, buildApp } from './app.ts'
import type { Config } from './config.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createSampler } from './modules/activity/sampler.ts'
import { createLastContacts } from './modules/agents/agent-contact.ts'
import { publishSeals } from './modules/chain/published.ts'
import { sealKeyOf } from './modules/chain/seal-key.ts'
import { mailSeals } from './modules/chain/seal-mail.ts'
import { createSealer } from './modules/chain/sealer.ts'
import { createChangeWatch } from './modules/changes/change-watch.ts'
import { currentKeyOf } from './modules/credentials/installation.ts'
import { openKeyRing } from './modules/credentials/key-ring.ts'
import type { SecretKey } from './modules/credentials/secret.ts'
import { createSeenStamps } from './modules/datasets/seen-stamps.ts'
import { createProofAccess } from './modules/directory/domain-proof.ts'
import { ensureNameKeys } from './modules/directory/name.ts'
import { makeDisclosureMonths } from './modules/disclosure/months.ts'
import { smallReadConnections } from './modules/disclosure/small-read.ts'
import { createDisclosureWriter } from './modules/disclosure/writer.ts'
import { createLiveWatch } from './modules/live/live-watch.ts'
import { createMailDelivery } from './modules/mail/delivery.ts'
import { createMailFolder } from './modules/mail/folder.ts'
import { createSmtp } from './modules/mail/smtp.ts'
import { freeShareOf } from './modules/notices/checks.ts'
import { createNotifier } from './modules/notices/notifier.ts'
import { completeLocations } from './modules/onboarding/complete-locations.ts'
import { measureBacklog } from './modules/overview/limits-in-use.ts'
import { createNoteRemover } from './modules/records/removals/note-remover.ts'
import { createRemover } from './modules/records/removals/remover.ts'
import { measureDue } from './modules/records/segments/segment-due.ts'
import { createSegmentPacker } from './modules/records/segments/segment-packer.ts'
import { createRerenderer } from './modules/records/write/rerenderer.ts'
import { followSecretKey } from './modules/secret-key/follow.ts'
import { createSyncSlots } from './modules/throttle/sync-slots.ts'
import { createTokenLimit } from './modules/throttle/token-limit.ts'
import { createUsageRecorder } from './modules/usage/recorder.ts'
import { createWebhookAccess } from './modules/webhooks/attempt.ts'
import { createWebhookSender } from './modules/webhooks/sender.ts'
import { openDatabase } from './platform/database/open-database.ts'
import { createPool, type PoolOptions } from './platform/database/pool.ts'
import { Problem } from './platform/errors/problem.ts'
import { connectionsWithin } from './platform/http/connections.ts'
import { drain } from './platform/http/drain.ts'
import { registerMetrics } from './platform/http/metrics-route.ts'
import { createHttpServer } from './platform/http/server.ts'
import { followTlsFiles, readTlsPair } from './platform/http/tls.ts'
import type { Log } from './platform/log/log-event.ts'
import { createLease } from './platform/loop/lease.ts'
import { createLoadWatch } from './platform/memory/load-watch.ts'
import { createMetrics, type Metrics } from './platform/metrics/metrics.ts'
import { createTraces } from './platform/traces/traces.ts'
import { requireSafeStart } from './safe-start.ts'

/**
 * Of the connections to the database, those for what decides about requests (health, keys, permits, slots, disclosures), so that pages and
 * uploads never keep it waiting. Measured: five give as many permits in a second as ten or twenty (3,100), two give a third less.
 */
const controlConnections = 5

/** The service with everything that it runs on, not yet listening. `metricsApp`: the metrics, where they have a port of their own. */
export type Service = {
  app: FastifyInstance
  metricsApp: FastifyInstance | null
  pool: Pool
  secretKey: SecretKey
  close: () => Promise<void>
}

/**
 * Opens database, keys, limits and background work in one order, and closes them in the reverse of it, also when a step fails. Errors whose
 * message is meant for the person who starts the server: DatabaseStartError, SecretKeyFileError, WrongSecretKey, UnsafeStart,
 * TlsFileError. `onSignUp` hears when somebody has signed up in the portal; `practices` are the demo practices of a sandbox.
 */
export async function openService(
  config: Config,
  write: Log,
  { onSignUp = () => {}, practices }: Pick<AppDeps, 'onSignUp' | 'practices'> = {},
): Promise<Service> {
  const now = () => new Date()
  const { tracesUrl } = config
  const traces = tracesUrl === null ? null : createTraces({ url: tracesUrl, now, log: write })
  const record: Log = traces
    ? (event) => {
        traces.observe(event)
        write(event)
      }
    : write
  let metrics: Metrics | null = null
  const log: Log = (event) => {
    metrics?.observe(event)
    record(event)
  }
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  if (traces) closers.push(traces.stop)
  const stopping = new AbortController()
  try {
    const database = await openDatabase(config, log)
    closers.push(database.close)
    const { sharesSessions } = database
    const connect = (url: string, applicationName: string, options: Partial<PoolOptions> & { max: number }) => {
      const opened = createPool(url, { ...options, log, applicationName })
      closers.push(() => opened.end())
      return opened
    }
    const workConnections = config.databaseConnections - controlConnections - smallReadConnections.max
    const pool = connect(database.serverUrl, 'bridgework server', { max: workConnections, sharesSessions })
    // Kept open: vendors ask every minute or so, and a new connection plans each statement several times before it keeps a plan.
    const controlPool = connect(database.serverUrl, 'bridgework server: control', {
      max: controlConnections,
      min: controlConnections,
      sharesSessions,
    })
    const smallReadPool = connect(database.directUrl, 'bridgework server: deltas', {
      ...smallReadConnections,
      min: smallReadConnections.max,
    })
    await requireSafeStart(pool, config, log)
    const { secretKey, stop: stopFollowing } = await followSecretKey({ pool: controlPool, settings: config, log })
    closers.push(stopFollowing)
    await completeLocations(pool)
    await ensureNameKeys(pool)
    await makeDisclosureMonths(pool)
    const keys = await openKeyRing({ pool: controlPool, secretKey, log })
    closers.push(keys.close)
    const { sealsDir } = config
    const sealer = createSealer({
      pool,
      key: async (db) => sealKeyOf(await currentKeyOf(db, secretKey)),
      now,
      log,
      afterwards: () =>
        Promise.all([
          mailSeals(pool, { key: sealKeyOf(secretKey), publicUrl: config.publicUrl }),
          sealsDir !== null && publishSeals(pool, sealsDir),
        ]),
    })
    // Stops after everything that adds entries.
    closers.push(sealer.stop)
    const tokenLimit = createTokenLimit({ pool: controlPool, log })
    const limits = { initial: config.initialLocationsMax, incremental: config.incrementalLocationsMax }
    const processId = randomUUID()
    const slots = createSyncSlots({ pool: controlPool, processId, limits, log })
    // Who has it does what is to be done once for the installation.
    const lease = createLease({ pool: controlPool, name: 'installation', processId, log })
    const notifierContext = {
      ...{ pool, secretKey, log, now, publicUrl: config.publicUrl, contact: contactOf(config) },
      freeShare: () => freeShareOf(config.dataDir),
    }
    const notifier = createNotifier(notifierContext, { when: lease.isHeld })
    const disclosures = createDisclosureWriter({
      pool: controlPool,
      log: (event) => {
        notifier.observe(event)
        log(event)
      },
    })
    const usage = createUsageRecorder({ pool, log, now })
    const load = createLoadWatch()
    const sampler = createSampler({
      pool,
      pools: [pool, controlPool],
      load,
      processId,
      dir: config.dataDir,
      backlog: () => measureBacklog(pool),
      now,
      log,
    })
    const rerenderer = createRerenderer({ pool, log })
    const remover = createRemover({ pool, log, now })
    const noteRemover = createNoteRemover({ pool, log })
    const segmentPacker = createSegmentPacker({ pool, log, load })
    closers.push(tokenLimit.stop, slots.stop, disclosures.stop, usage.stop)
    closers.push(rerenderer.stop, remover.stop, noteRemover.stop, segmentPacker.stop, load.stop, sampler.stop)
    const proofAccess = createProofAccess(stopping.signal)
    const webhookAccess = createWebhookAccess({
      allowPrivate: config.environment === 'sandbox',
      stopping: stopping.signal,
    })
    const webhooks = createWebhookSender(
      {
        ...{ pool, secretKey, access: webhookAccess, previewDatasets: config.previewDatasets, now, log },
        lastContactOf: createLastContacts({ pool, now }),
      },
      { when: lease.isHeld },
    )
    const housekeeping = createHousekeeping({ pool, log, proofAccess, when: lease.isHeld })
    // Given up when all that it is for has ended.
    closers.push(lease.stop)
    closers.push(housekeeping.stop, webhooks.stop)
    closers.push(startMail(config, pool, log))
    closers.push(notifier.stop)
    await lease.start()
    tokenLimit.start()
    slots.start()
    usage.start()
    housekeeping.start()
    sampler.start()
    rerenderer.start()
    remover.start()
    sealer.start()
    noteRemover.start()
    notifier.start()
    webhooks.start()
    segmentPacker.start()
    const { environment, publicUrl, trustedProxies, previewDatasets } = config
    const tls = config.tls && readTlsPair(config.tls)
    metrics = createMetrics({ work: pool, control: controlPool, deltas: smallReadPool }, load, () => measureDue(pool))
    const metricsApp = config.metrics.address && createMetricsServer(metrics, config.metrics.token, log)
    closers.push(async () => await metricsApp?.close())
    const changes = createChangeWatch({ pool: controlPool, log })
    const live = createLiveWatch({ pool: controlPool, now, log })
    const app = await buildApp({
      pool,
      controlPool,
      smallReadPool,
      secretKey,
      keys,
      tokenLimit,
      slots,
      disclosures,
      usage,
      seenStamps: createSeenStamps(),
      changes,
      live,
      load,
      metrics,
      metricsAccess: metricsApp ? null : { token: config.metrics.token },
      http: { connectionsMax: connectionsWithin(config.databaseConnections), ...(tls && { tls }) },
      environment,
      publicUrl,
      trustedProxies,
      previewDatasets,
      downloadsDir: config.downloadsDir,
      mailDir: config.mail.kind === 'folder' ? config.mail.dir : null,
      proofAccess,
      webhookAccess,
      stopping: stopping.signal,
      now,
      // The app counts its own events.
      log: record,
      onSignUp,
      ...(practices && { practices }),
    })
    // With TLS options it is a TLS server, which Fastify's type does not say.
    if (config.tls) closers.push(followTlsFiles(app.server as unknown as TlsServer, config.tls, log))
    closers.push(
      () => app.close(),
      () => drain(app.server),
      () => endOutgoing(stopping),
      // First of all: what waits for a change is answered at once, and pages that are open are told to come again.
      live.stop,
      changes.stop,
    )
    return { app, metricsApp, pool, secretKey, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What a request to an address that a customer entered may still take when the server stops. */
const outgoingGraceMs = 2_000

/** Lets outgoing requests under way finish, and ends them soon: whoever waits for one is told to try again, and nothing is counted as failed. */
function endOutgoing(stopping: AbortController): void {
  setTimeout(() => {
    stopping.abort(new Problem('unavailable', { because: 'the server stops' }))
  }, outgoingGraceMs).unref()
}

/** Answers GET /metrics and nothing else. */
function createMetricsServer(metrics: Metrics, token: string | null, log: Log): FastifyInstance {
  const app = createHttpServer({ log, trustedProxies: [] })
  registerMetrics(app, metrics, { token, isOpen: true })
  return app
}

/** Where people reach the operator: the address that mails come from, which is set with the mail server. */
function contactOf({ mail }: Config): string {
  return mail.kind === 'smtp' ? `answer this mail or write to ${mail.from}` : 'contact the operator of Bridgework'
}

/** Starts sending mails. Returns a function that stops it. */
function startMail({ mail }: Config, pool: Pool, log: Log): () => Promise<void> {
  if (mail.kind === 'none') {
    log({
      event: 'server.warning',
      text: 'No mail is sent, so people cannot sign up or reset a password. Set BRIDGEWORK_SMTP_URL and BRIDGEWORK_MAIL_FROM.',
    })
    return async () => {}
  }
  const { send, close } =
    mail.kind === 'smtp'
      ? createSmtp(mail.url, mail.from)
      : { send: createMailFolder(mail.dir, () => new Date()), close: () => {} }
  const delivery = createMailDelivery({ pool, send, log })
  delivery.start()
  return async () => {
    await delivery.stop()
    close()
  }
}
