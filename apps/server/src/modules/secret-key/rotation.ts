import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { FactsOf } from '../audit/in-words.ts'
import { changeSealKey } from '../chain/key-change.ts'
import { sealKeyOf } from '../chain/seal-key.ts'
import { waitForChain } from '../chain/store.ts'
import { requireInstallation } from '../credentials/installation.ts'
import type { DerivedKeys, SecretKey } from '../credentials/secret.ts'
import {
  addSecretKey,
  keepSecretKey,
  pathOf,
  readSecretKeys,
  type SecretKeySettings,
} from '../credentials/secret-key-file.ts'
import { forgetReader, listReaders, type Reader } from './reader.ts'
import { listRemaining, type Remaining, resealAll } from './stored.ts'

/** What a command gives: `say` gets each step, `show` how far the sealing is; `signal` ends it with Problem `stopped`. */
export type RotationWork<Action extends 'secret_key.rotate' | 'secret_key.drop' = 'secret_key.rotate'> = {
  pool: Pool
  settings: SecretKeySettings
  /** Loaded from `settings`, and current as the database says. */
  secretKey: SecretKey
  /** Puts the act on record, in the transaction of what it is about. */
  record: (db: Queryable, facts: FactsOf<Action>) => Promise<void>
  signal: AbortSignal
  say: (text: string) => void
  show: (done: number, total: number) => void
  pollMs?: number
  /** A process that has not been seen for this long is dead. */
  deadMs?: number
  /** How long another command may take to end. */
  busyMs?: number
}

export type KeyState = { id: string; state: 'earlier' | 'current' | 'next' }

/** Where a rotation is. */
export type RotationStatus = {
  keys: KeyState[]
  readers: Reader[]
  /** What still needs an earlier key. */
  remaining: Remaining[]
  /** Whether every process writes with the current key alone. */
  isSettled: boolean
}

/**
 * Rotates the secret key while the service runs. Each step leaves everything readable by every process, so it may be stopped or killed at any
 * moment, and goes on where it was when it is called again:
 *
 *  1. a new key is added to the file: nothing uses it
 *  2. every process has read it: all can read what it will make
 *  3. the database makes it current, in one transaction with the handing over of the seals: new things are made with it, within a second
 *  4. every process writes with it: nothing new is made with the key before
 *  5. what can be opened is sealed with it
 *
 * What remains are hashes, which are stored anew when they are used, or expire. Throws Problem `secret_key_busy` and `stopped`.
 */
export async function rotateSecretKey(work: RotationWork): Promise<RotationStatus> {
  return await alone(work, async () => {
    const { pool, secretKey, say } = work
    if (secretKey.all().length === 1) {
      addSecretKey(work.settings)
      secretKey.adopt(readSecretKeys(work.settings), secretKey.check)
      say(`Added a new key to ${pathOf(work.settings)}. Servers on other machines need a copy of this file now.`)
    }
    const next = nextOf(secretKey)
    if (next) {
      await waitForReaders(work, 'have not read the new key from their file', ({ keyIds }) => keyIds.includes(next.id))
      await makeCurrent(work, next)
      say(`The key ${next.id} is current.`)
    }
    await waitForReaders(work, 'still write with the earlier key', (each) => each.currentKeyId === secretKey.id)
    await pool.query(
      `with moment as (select clock_timestamp() as at)
       update installation set secret_key_settled_at = moment.at from moment where secret_key_settled_at is null`,
    )
    await resealAll(pool, secretKey, work)
    if (work.signal.aborted) throw stopped()
    return await rotationStatus(work)
  })
}

/**
 * Takes the earlier keys out of the file. Refuses while anything needs one. Returns how many it took out; none the second time. Throws Problem
 * `secret_key_in_use` and `secret_key_busy`.
 */
export async function dropEarlierKeys(work: RotationWork<'secret_key.drop'>): Promise<number> {
  return await alone(work, async () => {
    const { pool, secretKey, settings } = work
    const earlier = secretKey.all().filter(({ id }) => id !== secretKey.id)
    if (earlier.length === 0) return 0
    const { remaining, readers, isSettled } = await rotationStatus(work)
    if (nextOf(secretKey) || !isSettled || readers.some((each) => each.currentKeyId !== secretKey.id)) {
      throw inUse(['The rotation has not come to its end. Repeat "secret-key rotate".'])
    }
    if (remaining.length > 0) throw inUse(remaining.map(describeRemaining))
    // The file last: without its act nothing is dropped.
    await withTransaction(pool, async (client) => {
      await work.record(client, { ids: earlier.map(({ id }) => id) })
      keepSecretKey(settings, secretKey.id)
    })
    secretKey.adopt(readSecretKeys(settings), secretKey.check)
    return earlier.length
  })
}

/** Where a rotation is. Changes nothing. */
export async function rotationStatus({
  pool,
  secretKey,
}: Pick<RotationWork, 'pool' | 'secretKey'>): Promise<RotationStatus> {
  const all = secretKey.all()
  const currentAt = all.findIndex(({ id }) => id === secretKey.id)
  const { rows } = await pool.query<{ is_settled: boolean }>(
    'select secret_key_settled_at is not null as is_settled from installation',
  )
  return {
    keys: all.map(({ id }, at) => ({
      id,
      state: at === currentAt ? 'current' : at < currentAt ? 'earlier' : 'next',
    })),
    readers: await listReaders(pool),
    remaining: all.length === 1 ? [] : await listRemaining(pool, secretKey),
    isSettled: all.length === 1 || (rows[0]?.is_settled ?? false),
  }
}

/** One line for a person: how many of what, and when it ends. */
export function describeRemaining({ what, rows, ends }: Remaining): string {
  return `${rows.toLocaleString('en-US')} ${what}: ${ends}`
}

/** The key that is in the file and was never current: those after the current one. */
function nextOf(secretKey: SecretKey): DerivedKeys | null {
  const last = secretKey.all().at(-1)
  return last && last.id !== secretKey.id ? last : null
}

/** The moment of the rotation. Between two seals, so that each seal has one key; on record, so that it is on the chain. */
async function makeCurrent({ pool, secretKey, record }: RotationWork, next: DerivedKeys): Promise<void> {
  await withTransaction(pool, async (client) => {
    await waitForChain(client)
    await client.query('select from installation for update')
    await client.query('update installation set secret_key_check = $1, secret_key_settled_at = null', [next.check])
    const [from, to] = [sealKeyOf(secretKey), sealKeyOf(next)]
    await changeSealKey(client, from, to, new Date())
    await record(client, { from: secretKey.id, to: next.id, sealKeyFrom: from.text, sealKeyTo: to.text })
  })
  await requireInstallation(pool, secretKey)
}

/**
 * Waits until every process is so. One that is not, and has not been seen while this waited for `deadMs`, is dead: it is not waited for. The
 * time is counted from here, so that an outage of the database makes no process look dead.
 */
async function waitForReaders(work: RotationWork, what: string, isReady: (reader: Reader) => boolean): Promise<void> {
  const { pool, signal, say, pollMs = 500, deadMs = 30_000 } = work
  const seen = new Map<string, { at: number; sinceMs: number }>()
  let said = ''
  for (;;) {
    const waiting: string[] = []
    for (const reader of await listReaders(pool)) {
      if (isReady(reader)) continue
      const before = seen.get(reader.processId)
      const at = reader.seenAt.getTime()
      if (before?.at !== at) seen.set(reader.processId, { at, sinceMs: performance.now() })
      else if (performance.now() - before.sinceMs > deadMs) {
        await forgetReader(pool, reader.processId, reader.seenAt)
        continue
      }
      waiting.push(reader.name)
    }
    if (waiting.length === 0) return
    const text = `Waiting for servers that ${what}: ${waiting.join('; ')}.`
    if (text !== said) say(text)
    said = text
    if (signal.aborted) throw stopped()
    await sleep(pollMs)
  }
}

/** One rotation at a time, also from several machines. A killed command leaves nothing locked. */
async function alone<T>(
  { pool, busyMs = 5_000 }: Pick<RotationWork, 'pool' | 'busyMs'>,
  run: () => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    // The session of a command that was killed ends a moment after it.
    const untilMs = performance.now() + busyMs
    while (!(await tryLock(client))) {
      if (performance.now() > untilMs) throw new Problem('secret_key_busy')
      await sleep(50)
    }
    return await run().finally(() => client.query('select pg_advisory_unlock($1)', [lockKey]))
  } finally {
    // Ends the session, and with it the lock where it could not be given back.
    client.release(true)
  }
}

async function tryLock(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockKey])
  return rows[0]?.locked ?? false
}

function inUse(lines: readonly string[]): Problem {
  return new Problem('secret_key_in_use', {
    errors: [
      'The earlier secret key is still in use, so it was not dropped:',
      ...lines.map((line) => `  ${line}`),
    ].join('\n'),
  })
}

function stopped(): Problem {
  return new Problem('stopped', {
    errors: 'Stopped. The service goes on as it is. Repeat "secret-key rotate" to finish.',
  })
}

/** The advisory lock of a rotation, which no other part takes: the first bytes of "rotate". */
const lockKey = 0x72_6f_74_61_74_65
