import { createHash, type KeyObject } from 'node:crypto'
import { limits } from '@bridgework/contract'
import { isEarlierRelease } from '@bridgework/contract/release'
import { openRelease, UpdateRefused } from '@bridgework/contract/signed-release'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId } from '../../platform/identity/identity.ts'

/** A published release of the agent; `size` and `sha256` are of its signed file. */
export type AgentRelease = {
  version: string
  size: number
  sha256: string
  publishedAt: Date
  withdrawnAt: Date | null
}

/** `refused`: the file was not what was signed or announced. `rolled_back`: it was tried, and the version before runs again. */
export type ReleaseFailure = 'refused' | 'rolled_back'

/**
 * Publishes a signed release, when the key that the agents know has signed it and it is newer than every other one that is offered. Throws a
 * Problem that says why not. `alongside` happens in the same transaction.
 */
export async function publishRelease(
  pool: Pool,
  file: Buffer,
  publicKey: KeyObject,
  alongside: (client: Queryable, release: AgentRelease) => Promise<void>,
): Promise<AgentRelease> {
  const version = verifiedVersion(file, publicKey)
  return await withTransaction(pool, async (client) => {
    // Of two that are published at one moment, the second one sees the first.
    await client.query('lock table agent_release in share row exclusive mode')
    const known = await listReleases(client)
    if (known.some((each) => each.version === version))
      throw refusal(`Version ${version} was published already. Give each release a version of its own.`)
    const newer = known.find((each) => each.withdrawnAt === null && !isEarlierRelease(each.version, version))
    if (newer)
      throw refusal(
        `Version ${version} is not newer than ${newer.version}, which is published. Agents would not take it.`,
      )
    const { rows } = await client.query<RowOf<AgentRelease>>(
      `insert into agent_release (version, size, sha256, file) values ($1, $2, $3, $4) returning ${columns}`,
      [version, file.length, createHash('sha256').update(file).digest('hex'), file],
    )
    if (!rows[0]) throw new Error('the release was not stored')
    const release = fromRow<AgentRelease>(rows[0])
    await alongside(client, release)
    return release
  })
}

function verifiedVersion(file: Buffer, publicKey: KeyObject): string {
  try {
    return openRelease(file, publicKey).version
  } catch (error) {
    if (error instanceof UpdateRefused) throw refusal(error.message)
    throw error
  }
}

/** No agent is offered this release from now on. Throws a Problem when it is not published, or was withdrawn. */
export async function withdrawRelease(db: Queryable, version: string): Promise<void> {
  const { rowCount } = await db.query(
    `with moment as (select clock_timestamp() as at)
     update agent_release set withdrawn_at = moment.at from moment where version = $1 and withdrawn_at is null`,
    [version],
  )
  if (rowCount === 1) return
  const errors = `Version ${version} is not published, or was withdrawn already. See "agent-release list".`
  throw new Problem('release_unknown', { errors })
}

/** Every release, the last published first. They are few. */
export async function listReleases(db: Queryable): Promise<AgentRelease[]> {
  const { rows } = await db.query<RowOf<AgentRelease>>(
    `select ${columns} from agent_release order by published_at desc, version`,
  )
  return rows.map(fromRow<AgentRelease>)
}

/** The newest release that is not withdrawn; null: there is none. */
export async function newestRelease(db: Queryable): Promise<AgentRelease | null> {
  return (await listReleases(db))
    .filter(({ withdrawnAt }) => withdrawnAt === null)
    .reduce<AgentRelease | null>((a, b) => (a !== null && isEarlierRelease(b.version, a.version) ? a : b), null)
}

/** The newest release for an agent of this version; null when it is not newer, or the agent says no version. */
export async function releaseAfter(db: Queryable, running: string | null): Promise<AgentRelease | null> {
  const newest = await newestRelease(db)
  return newest !== null && running !== null && isEarlierRelease(running, newest.version) ? newest : null
}

/** Part `number`, from 0, of a release's file; null when it was withdrawn. */
export async function readReleasePart(db: Queryable, version: string, number: number): Promise<Buffer | null> {
  const { rows } = await db.query<{ bytes: Buffer }>(
    'select substring(file from $2 for $3) as bytes from agent_release where version = $1 and withdrawn_at is null',
    [version, number * limits.agentReleasePartBytes + 1, limits.agentReleasePartBytes],
  )
  return rows[0]?.bytes ?? null
}

/** Notes that an agent did not take a release. What it says of the same release again changes nothing. */
export async function noteFailedRelease(
  db: Queryable,
  agentId: AgentId,
  failed: { version: string; outcome: ReleaseFailure },
): Promise<void> {
  await db.query(
    `with moment as (select clock_timestamp() as at)
     update agent
        set failed_release = $2, failed_release_outcome = $3, failed_release_at = moment.at
       from moment
      where id = $1 and failed_release is distinct from $2`,
    [agentId, failed.version, failed.outcome],
  )
}

const columns = 'version, size, sha256, published_at, withdrawn_at'

function refusal(errors: string): Problem {
  return new Problem('field_invalid', { errors })
}
