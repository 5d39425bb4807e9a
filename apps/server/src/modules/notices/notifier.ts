import { withTransaction } from '../../platform/database/pool.ts'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import type { Log, LogEvent } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { checks, type Watched } from './checks.ts'
import type { ConditionEvent } from './condition-rules.ts'
import { type Finding, trackConditions } from './conditions.ts'
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
 * Notices acts every few seconds, looks at conditions every five minutes, and queues digests when they are due, in every server process: each
 * piece of work takes its lock, so one process at a time does it. A failure is logged, and the next time does all that is left.
 */
export function createNotifier(context: NotifierContext, { everyMs = 5_000, checkEveryMs = 300_000 } = {}): Notifier {
  const { log, now } = context
  let disclosureFailedAt: Date | null = null
  const acts = createLoop({
    steps: {
      notices: async (stopping) => {
        while (!stopping.aborted && (await noticeActs(context)) > 0);
      },
    },
    ...{ everyMs, firstAfterMs: 0, log },
  })
  const conditions = createLoop({
    steps: {
      checks: () => checkConditions(context, disclosureFailedAt),
      digests: () => queueDigests(context),
    },
    ...{ everyMs: checkEveryMs, firstAfterMs: 0, log },
  })
  return {
    observe: ({ event }) => {
      if (event === 'disclosure.failed') disclosureFailedAt = now()
    },
    start() {
      acts.start()
      conditions.start()
    },
    async stop() {
      await Promise.all([acts.stop(), conditions.stop()])
    },
  }
}

/** Runs every check, and notices what began and what ended since the last time. A check that fails decides nothing, and is logged. */
export async function checkConditions(context: NotifierContext, disclosureFailedAt: Date | null): Promise<void> {
  const { pool, log, publicUrl } = context
  const now = context.now()
  const findings: Finding[] = []
  const checked: ConditionEvent[] = []
  for (const { events, find } of checks) {
    try {
      findings.push(...(await find({ ...context, now, disclosureFailedAt })))
      checked.push(...events)
    } catch (error) {
      log({ event: 'task.failed', task: `check of ${events[0]}`, error: databaseErrorCode(error) })
    }
  }
  await withTransaction(pool, async (client) => {
    await client.query('select from notice_cursor for update')
    await trackConditions(client, { publicUrl, now }, { findings, checked })
  })
}
