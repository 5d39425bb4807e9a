import { setImmediate as nextTurn } from 'node:timers/promises'
import { datasetNames, getDataset, limits } from '@bridgework/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { beforeAll, type ChangeRow, readChangeRows } from '../../../modules/changes/change-rows.ts'
import { lookEveryMs } from '../../../modules/changes/change-watch.ts'
import { type Horizon, readHorizon } from '../../../modules/changes/horizon.ts'
import { renderChange } from '../../../modules/changes/render-change.ts'
import { type Principal, requirePrincipal } from '../../../modules/consent/read-permit.ts'
import type { Stamp } from '../../../modules/datasets/stamp.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { acceptedCoding, sendBody } from '../../../platform/http/send-body.ts'
import { rawQuery } from '../../../platform/http/server.ts'
import type { VendorApiContext } from '../context.ts'
import { headOnly } from '../list/disclosed-read.ts'
import { changesSchema } from '../openapi/changes-schema.ts'
import { type ChangesParameters, readChangesParameters } from '../parameters.ts'
import { keepBytes, withoutTurn } from '../request-turn.ts'
import { tokenOf } from '../token/authenticate.ts'
import { type ChangeCursor, formatCursor } from './cursor.ts'

/** A row has about 350 bytes. */
const answerBytesMax = 2 * 2 ** 20

/**
 * What changed of all that the company may read, as the state that it is in now: which datasets to ask for changes, and which grants, locations and
 * keys began or ended. No patient's data, so no disclosure and no slot.
 */
export function registerChanges(app: FastifyInstance, context: VendorApiContext): void {
  const options = { schema: changesSchema, exposeHeadRoute: true, config: { answerBytesMax } }
  app.get('/changes', options, async (request, reply) => {
    const principal = await requirePrincipal(context.controlPool, tokenOf(request))
    const parameters = readChangesParameters(rawQuery(request))
    if (request.method === 'HEAD') return headOnly(reply)
    const page = await pageAfterWait(context, request, principal, parameters)
    const next: ChangeCursor = { epoch: page.horizon.epoch, until: page.until, walk: page.walk }
    const meta = {
      has_more: page.walk !== null,
      next_after: formatCursor(next),
      is_whole: page.since === null,
      epoch: page.horizon.epoch,
      request_id: request.id,
    }
    if (page.walk !== null) {
      const query = new URLSearchParams(rawQuery(request))
      query.set('after', meta.next_after)
      reply.header('Link', `<?${query}>; rel="next"`)
    }
    await sendBody(reply, {
      body: JSON.stringify({ data: await rendered(context, page.rows), meta }),
      onHeld: (bytes) => keepBytes(request, bytes),
      coding: acceptedCoding(request.headers['accept-encoding']),
    })
    return reply
  })
}

type ChangePage = {
  rows: readonly ChangeRow[]
  horizon: Horizon
  since: Stamp | null
  until: Stamp
  walk: ChangeCursor['walk']
  /** Whether it says what the cursor cannot have known. */
  isNews: boolean
}

/** The page, at once when it has news or nobody waits, else as soon as it has some, and at the latest when the wait is over. */
async function pageAfterWait(
  context: VendorApiContext,
  request: FastifyRequest,
  principal: Principal,
  { after, items, wait }: ChangesParameters,
): Promise<ChangePage> {
  const read = (horizon: Horizon) => readPage(context, principal, horizon, after, items)
  if (wait === 0 || after === null) return await read(await readHorizon(context.pool))
  const endsAt = performance.now() + wait * 1000
  const leave = context.changes.enter(principal.companyId)
  const left = new AbortController()
  const onClose = () => left.abort()
  request.raw.once('close', onClose)
  if (request.raw.destroyed) left.abort()
  try {
    for (let isFirst = true; ; isFirst = false) {
      const horizon = await readHorizon(context.pool)
      // Asked a moment ago: what is repeated because a transaction is still open, or a clock was ahead, is looked at with the others.
      const isTooSoon = isFirst && after.walk === null && horizon.clock - after.until < lookEveryMs * 1000
      const page = isTooSoon ? null : await read(horizon)
      const ms = endsAt - performance.now()
      if (page && (page.isNews || ms <= 0 || context.changes.isStopping())) return page
      const { epoch } = horizon
      const since = page ? page.until : after.until
      const asked = { companyId: principal.companyId, since, epoch, ms: Math.max(0, ms), signal: left.signal }
      await withoutTurn(request, answerBytesMax, () => context.changes.wait(asked))
      if (left.signal.aborted) throw new Problem('request_malformed', { because: 'aborted' })
      // A key pair that was revoked meanwhile ends the wait, as it ends every request.
      await requirePrincipal(context.controlPool, tokenOf(request))
    }
  } finally {
    request.raw.off('close', onClose)
    leave()
  }
}

async function readPage(
  { pool, previewDatasets }: VendorApiContext,
  { companyId }: Principal,
  horizon: Horizon,
  after: ChangeCursor | null,
  items: number,
): Promise<ChangePage> {
  // A cursor ahead of the clock: the clock was set back, and what was changed since may have earlier stamps.
  const isKnown = after !== null && after.epoch === horizon.epoch && after.until <= horizon.clock + overlap
  const walk = isKnown ? after.walk : { since: null, place: beforeAll }
  const since = walk ? walk.since : (after?.until ?? null)
  const until = isKnown && after.walk ? after.until : horizon.stamp
  const { rows, hasMore } = await readChangeRows(pool, {
    companyId,
    horizon,
    since: since === null ? null : Math.max(0, since - overlap),
    datasets: datasetNames.filter((name) => !getDataset(name).preview || previewDatasets.has(name)),
    after: walk?.place ?? beforeAll,
    limit: items,
  })
  const last = rows.at(-1)
  const isNews = since === null || walk !== null || hasMore || rows.some(({ at }) => at > since)
  return { rows, horizon, since, until, walk: hasMore && last ? { since, place: last.place } : null, isNews }
}

const overlap = limits.changesOverlapMs * 1000

/** In parts: to say how fresh many datasets are takes long at night, when the hours of each location are looked at. */
async function rendered(context: VendorApiContext, rows: readonly ChangeRow[]) {
  const data: Awaited<ReturnType<typeof renderChange>>[] = []
  for (const row of rows) {
    data.push(await renderChange(context, row))
    if (data.length % renderedAtOnce === 0) await nextTurn()
  }
  return data
}

const renderedAtOnce = 200
