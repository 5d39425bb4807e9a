import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import type { PracticeSeal, Seal } from './seal.ts'

/** The first bytes of each sealed entry's hash, one after the other. */
export type Marks = { disclosureMarks: Buffer; actMarks: Buffer }

/** Where a practice's chain is. The last three tell of its entries since its last seal. */
export type PracticeHead = Pick<PracticeSeal, 'organizationId' | 'entries' | 'head' | 'lastDisclosureId'> & {
  unsealed: number
  firstAt: string | null
  lastAt: string | null
}

/** A practice's seal with the seal that it was made with, and the times between which its entries since the one before are. */
export type StoredPracticeSeal = PracticeSeal & { sealNumber: number; firstAt: string; lastAt: string }

/** True when this transaction may seal: one at a time. Ends with the transaction, so a killed process leaves nothing locked. */
export async function lockChain(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [lockKey])
  return rows[0]?.locked ?? false
}

/** As `lockChain`, but waits until no other transaction seals. */
export async function waitForChain(db: Queryable): Promise<void> {
  await db.query('select pg_advisory_xact_lock($1)', [lockKey])
}

/** The newest seal, or null. */
export async function findLastSeal(db: Queryable): Promise<Seal | null> {
  const { rows } = await db.query<RowOf<Seal>>(`select ${sealColumns} from seal order by number desc limit 1`)
  return rows[0] ? fromRow<Seal>(rows[0]) : null
}

/** The seal of this number, or null. */
export async function findSeal(db: Queryable, number: number): Promise<Seal | null> {
  const { rows } = await db.query<RowOf<Seal>>(`select ${sealColumns} from seal where number = $1`, [number])
  return rows[0] ? fromRow<Seal>(rows[0]) : null
}

/** One transaction at a time drops a month; nothing else waits for it. */
export async function lockDrops(owner: Queryable): Promise<void> {
  await owner.query('lock table disclosure_drop in share row exclusive mode')
}

/** The newest seal with no disclosure from this id on, or null. Reads back from the newest: for a command, not for a request. */
export async function findLastSealUpTo(db: Queryable, firstIdAfter: string): Promise<Seal | null> {
  const { rows } = await db.query<RowOf<Seal>>(
    `select ${sealColumns} from seal where last_disclosure_id < $1 order by number desc limit 1`,
    [firstIdAfter],
  )
  return rows[0] ? fromRow<Seal>(rows[0]) : null
}

/** The newest seal made before this moment, or null. */
export async function findLastSealBefore(db: Queryable, before: Date): Promise<Seal | null> {
  const { rows } = await db.query<RowOf<Seal>>(
    `select ${sealColumns} from seal where seal.sealed_at < $1 order by seal.sealed_at desc, number desc limit 1`,
    [before],
  )
  return rows[0] ? fromRow<Seal>(rows[0]) : null
}

/** Seals by number, made before this moment. */
export async function listSeals(
  db: Queryable,
  { after, until, limit }: { after: number; until: Date; limit: number },
): Promise<Seal[]> {
  const { rows } = await db.query<RowOf<Seal>>(
    `select ${sealColumns} from seal where number > $1 and seal.sealed_at < $2 order by number limit $3`,
    [after, until, limit],
  )
  return rows.map(fromRow<Seal>)
}

export async function readMarks(db: Queryable, number: number): Promise<Marks> {
  const { rows } = await db.query<RowOf<Marks>>('select disclosure_marks, act_marks from seal where number = $1', [
    number,
  ])
  return rows[0] ? fromRow<Marks>(rows[0]) : { disclosureMarks: Buffer.alloc(0), actMarks: Buffer.alloc(0) }
}

export async function insertSeal(db: Queryable, seal: Seal & Marks): Promise<void> {
  await db.query(
    `insert into seal (number, previous, sealed_at, last_disclosure_id, disclosures, disclosures_sha256, last_act_id, acts, acts_sha256,
                       practices, practices_sha256, key_id, signature, disclosure_marks, act_marks)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      seal.number,
      seal.previous,
      seal.sealedAt,
      seal.lastDisclosureId,
      seal.disclosures,
      seal.disclosuresSha256,
      seal.lastActId,
      seal.acts,
      seal.actsSha256,
      seal.practices,
      seal.practicesSha256,
      seal.keyId,
      seal.signature,
      seal.disclosureMarks,
      seal.actMarks,
    ],
  )
}

export async function readHeads(db: Queryable, ids: readonly OrganizationId[]): Promise<PracticeHead[]> {
  const { rows } = await db.query<RowOf<PracticeHead>>(
    `select ${headColumns} from practice_head where organization_id = any($1::bigint[])`,
    [ids],
  )
  return rows.map(fromRow<PracticeHead>)
}

/** Every head, and the number of the newest seal at that moment (0: none), in one statement. */
export async function readAllHeads(db: Queryable): Promise<{ newest: number; heads: PracticeHead[] }> {
  const { rows } = await db.query<RowOf<PracticeHead> & { newest: number }>(
    `select newest.number as newest, ${headColumns}
       from (select coalesce(max(number), 0)::float8 as number from seal) newest
       left join practice_head on true
      order by organization_id`,
  )
  const heads = rows.filter((row) => row.organization_id !== null)
  return { newest: rows[0]?.newest ?? 0, heads: heads.map(({ newest: _, ...head }) => fromRow<PracticeHead>(head)) }
}

/** The heads with at least this many entries since their last seal, in order of organization. */
export async function listUnsealedHeads(db: Queryable, unsealedMin: number): Promise<PracticeHead[]> {
  const { rows } = await db.query<RowOf<PracticeHead>>(
    `select ${headColumns} from practice_head where unsealed >= $1 and unsealed > 0 order by organization_id`,
    [unsealedMin],
  )
  return rows.map(fromRow<PracticeHead>)
}

export async function saveHeads(db: Queryable, heads: readonly PracticeHead[]): Promise<void> {
  await db.query(
    `insert into practice_head (organization_id, entries, head, last_disclosure_id, unsealed, first_at, last_at)
     select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::integer[], $6::timestamptz[], $7::timestamptz[])
         on conflict (organization_id) do update
        set entries = excluded.entries, head = excluded.head, last_disclosure_id = excluded.last_disclosure_id,
            unsealed = excluded.unsealed, first_at = excluded.first_at, last_at = excluded.last_at`,
    columnsOf(heads, ['organizationId', 'entries', 'head', 'lastDisclosureId', 'unsealed', 'firstAt', 'lastAt']),
  )
}

export async function insertPracticeSeals(db: Queryable, seals: readonly StoredPracticeSeal[]): Promise<void> {
  await db.query(
    `insert into practice_seal (organization_id, entries, head, last_disclosure_id, sealed_at, key_id, signature, seal_number, first_at, last_at)
     select * from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::timestamptz[], $6::text[], $7::bytea[], $8::bigint[],
                          $9::timestamptz[], $10::timestamptz[])`,
    columnsOf(seals, [
      'organizationId',
      'entries',
      'head',
      'lastDisclosureId',
      'sealedAt',
      'keyId',
      'signature',
      'sealNumber',
      'firstAt',
      'lastAt',
    ]),
  )
}

/** The practice seals that were made with this seal, in order of organization. */
export async function listPracticeSealsOfSeal(db: Queryable, number: number): Promise<StoredPracticeSeal[]> {
  const { rows } = await db.query<RowOf<StoredPracticeSeal>>(
    `select ${practiceSealColumns} from practice_seal where seal_number = $1 order by organization_id, entries`,
    [number],
  )
  return rows.map(fromRow<StoredPracticeSeal>)
}

/** How many practice seals name a seal that there is not. */
export async function countLostPracticeSeals(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ lost: number }>(
    `select count(*)::integer as lost
       from practice_seal p
      where not exists (select 1 from seal s where s.number = p.seal_number)`,
  )
  return rows[0]?.lost ?? 0
}

/** A practice's seals in order, from the one after so many entries on. */
export async function listPracticeSeals(
  db: Queryable,
  organizationId: OrganizationId,
  afterEntries: string,
  limit: number,
): Promise<StoredPracticeSeal[]> {
  const { rows } = await db.query<RowOf<StoredPracticeSeal>>(
    `select ${practiceSealColumns}
       from practice_seal
      where organization_id = $1 and entries > $2
      order by entries
      limit $3`,
    [organizationId, afterEntries, limit],
  )
  return rows.map(fromRow<StoredPracticeSeal>)
}

/** The newest seal of a practice made before this moment, or null. */
export async function findPracticeSealBefore(
  db: Queryable,
  organizationId: OrganizationId,
  before: Date,
): Promise<StoredPracticeSeal | null> {
  const { rows } = await db.query<RowOf<StoredPracticeSeal>>(
    `select ${practiceSealColumns}
       from practice_seal
      where organization_id = $1 and practice_seal.sealed_at < $2
      order by entries desc
      limit 1`,
    [organizationId, before],
  )
  return rows[0] ? fromRow<StoredPracticeSeal>(rows[0]) : null
}

/** A practice's newest seal, or null. */
export async function findLastPracticeSeal(
  db: Queryable,
  organizationId: OrganizationId,
): Promise<StoredPracticeSeal | null> {
  return await findPracticeSealBefore(db, organizationId, new Date(8.64e15))
}

function columnsOf<T>(rows: readonly T[], names: readonly (keyof T)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]))
}

const instant = (column: string) => `${instantText(column)} as ${column}`

const sealColumns = `number::float8, previous, ${instant('sealed_at')}, last_disclosure_id, disclosures, disclosures_sha256, last_act_id, acts,
  acts_sha256, practices, practices_sha256, key_id, signature`

const practiceSealColumns = `organization_id, entries, head, last_disclosure_id, ${instant('sealed_at')}, key_id, signature,
  seal_number::float8, ${instant('first_at')}, ${instant('last_at')}`

const headColumns = `organization_id, entries, head, last_disclosure_id, unsealed, ${instant('first_at')}, ${instant('last_at')}`

/** The advisory lock of the sealer, which no other part takes: the first bytes of "sealer". */
const lockKey = 0x73_65_61_6c_65_72
