import { withTransaction } from '../../platform/database/pool.ts'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import type { Log, LogEvent } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { type Check, checks, ownChecks, urgentChecks, type Watched } from './checks.ts'
import type { ConditionEvent } from './condition-rules.ts'
import { noteFindings, trackConditions } from './conditions.ts'
import { queueDigests } from './digest.ts'
import { type NoticeContext, noticeActs } from './notice-acts.ts'

export type Notifier = {
  /** Takes note of what this process writes to its log: failed disclosures. */
  observe: (event: LogEvent) => void
  start: () => void
  stop: () => Promise<void>
}

export type NotifierContext = NoticeContext & Pick<Watched, 'secretKey' | 'freeShare'> & { log: Log }

/**
 * Notices acts every second and what is urgent every few seconds, looks at conditions every five minutes, and queues digests when they are due. `when`: whether this process does it; else it looks
 * only at what it alone knows. Each piece of work takes its lock, so two processes at once notice nothing twice. A failure is logged,
 * and the next time does all that is left.
 */
export function createNotifier(
  context: NotifierContext,
  options: { everyMs?: number; checkEveryMs?: number; when?: () => boolean } = {},
): Notifier {
  const { everyMs = 1_000, checkEveryMs = 300_000, when = () => true } = options
  const { log, now } = context
  let disclosureFailedAt: Date | null = null
  const acts = createLoop({
    steps: {
      notices: async (stopping) => {
        while (!stopping.aborted && (await noticeActs(context)) > 0);
      },
    },
    ...{ everyMs, firstAfterMs: 0, when, log },
  })
  const urgent = createLoop({
    steps: { 'urgent checks': () => checkConditions(context, disclosureFailedAt, urgentChecks) },
    ...{ everyMs: 5 * everyMs, firstAfterMs: 0, when, log },
  })
  const conditions = createLoop({
    steps: {
      checks: () => checkConditions(context, disclosureFailedAt),
      digests: () => queueDigests(context),
    },
    ...{ everyMs: checkEveryMs, firstAfterMs: 0, when, log },
  })
  const own = createLoop({
    steps: { 'own checks': () => checkConditions(context, disclosureFailedAt, ownChecks) },
    ...{ everyMs: checkEveryMs, firstAfterMs: 0, when: () => !when(), log },
  })
  return {
    observe: ({ event }) => {
      if (event === 'disclosure.failed') disclosureFailedAt = now()
    },
    start() {
      acts.start()
      urgent.start()
      conditions.start()
      own.start()
    },
    async stop() {
      await Promise.all([acts, urgent, conditions, own].map((loop) => loop.stop()))
    },
  }
}

/** Runs checks, and notices what began and what ended since the last time. A check that fails decides nothing, and is logged. */
export async function checkConditions(
  context: NotifierContext,
  disclosureFailedAt: Date | null,
  which: readonly Check[] = checks,
): Promise<void> {
  const { pool, log, publicUrl } = context
  const now = context.now()
  let found = 0
  const checked: ConditionEvent[] = []
  for (const { events, find } of which) {
    try {
      for await (const findings of slicesOf(
        find({ ...context, now, disclosureFailedAt, recentMs: which === urgentChecks ? 600_000 : 86_400_000 }),
      )) {
        await noteFindings(pool, context.now(), findings)
        found += findings.length
      }
      checked.push(...events)
    } catch (error) {
      log({ event: 'task.failed', task: `check of ${events[0]}`, error: databaseErrorCode(error) })
    }
  }
  if (which !== checks && found === 0) return
  await withTransaction(pool, async (client) => {
    await client.query('select from notice_cursor for update')
    // What has ended is seen where every check ran: others look for a part, or for what one process knows. The time is taken again, because the machine may
    // have slept: by an old one, what other processes found since would have ended.
    await trackConditions(client, { publicUrl, now: context.now() }, which === checks ? checked : [])
  })
}

async function* slicesOf<T>(found: Promise<T> | AsyncIterable<T>): AsyncIterable<T> {
  if (found instanceof Promise) yield await found
  else yield* found
}
