import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { readSealedActs, type SealedAct } from '../audit/entry.ts'
import { actInWords } from '../audit/in-words.ts'
import { type DisclosureFactsRow, readDisclosureRows } from '../disclosure/entry.ts'
import { rowsAtOnce } from './run.ts'
import { previousOf } from './seal.ts'
import { findLastSeal, findSeal } from './store.ts'

/** Where an export is: after this act and this disclosure, which the seal covers. The hash tells whether it is still the same chain. */
export type Cursor = { seal: number; sealHash: string; actId: string; disclosureId: string }

/** Lines of JSON, each with the cursor after it, and the last one's cursor. */
export type SealedLines = { text: string; count: number; cursor: Cursor }

const hashDigits = 16

/**
 * All acts, then all disclosures that have a seal and come after the cursor, each in order of id. No entry can appear later below one that is
 * sealed (docs/decisions/chain.md), so none is ever passed over, and one that resumes at the cursor of any line has each line once. Throws
 * Problem audit_cursor_unknown when the chain has no such seal.
 */
export async function* sealedLines(db: Queryable, after: Cursor | null): AsyncGenerator<SealedLines> {
  if (after !== null) await requireOwnCursor(db, after)
  const last = await findLastSeal(db)
  if (last === null) return
  const seal = { seal: last.number, sealHash: hashOf(previousOf(last)) }
  let cursor: Cursor = { actId: '0', disclosureId: '0', ...after, ...seal }
  for (let isMore = true; isMore; ) {
    const range = { afterId: cursor.actId, lastId: last.lastActId, limit: rowsAtOnce }
    const acts = (await readSealedActs(db, range)).map((facts) => {
      cursor = { ...cursor, actId: facts.id }
      return lineOf(cursor, actFields(facts))
    })
    isMore = acts.length === rowsAtOnce
    if (acts.length > 0) yield { text: acts.join(''), count: acts.length, cursor }
  }
  for (let isMore = true; isMore; ) {
    const range = { afterId: cursor.disclosureId, lastId: last.lastDisclosureId, limit: rowsAtOnce }
    const disclosures = (await readDisclosureRows(db, range)).map((row) => {
      cursor = { ...cursor, disclosureId: row.id }
      return lineOf(cursor, disclosureFields(row))
    })
    isMore = disclosures.length > 0
    if (disclosures.length > 0) yield { text: disclosures.join(''), count: disclosures.length, cursor }
  }
}

/** A cursor as text: without a character that a shell or JSON would change. */
export function writeCursor({ seal, sealHash, actId, disclosureId }: Cursor): string {
  return [seal, sealHash, actId, disclosureId].join('-')
}

/** The cursor that a text is; null where it is none. */
export function readCursor(text: string): Cursor | null {
  const pattern = /^(?<seal>\d{1,15})-(?<sealHash>[0-9a-f]{16})-(?<actId>\d{1,18})-(?<disclosureId>\d{1,18})$/
  // Each of its groups takes part in every match.
  const groups = pattern.exec(text)?.groups as (Omit<Cursor, 'seal'> & { seal: string }) | undefined
  return groups ? { ...groups, seal: Number(groups.seal) } : null
}

/** A database that was restored from a backup gives ids again, so its entries would be taken for old ones. */
async function requireOwnCursor(db: Queryable, { seal: number, sealHash }: Cursor): Promise<void> {
  const seal = await findSeal(db, number)
  if (seal === null || hashOf(previousOf(seal)) !== sealHash) throw new Problem('audit_cursor_unknown')
}

function hashOf(sha256: Buffer): string {
  return sha256.toString('hex').slice(0, hashDigits)
}

function lineOf(cursor: Cursor, fields: object): string {
  return `${JSON.stringify({ cursor: writeCursor(cursor), ...fields })}\n`
}

function actFields({ id, occurred_at, action, facts, ...others }: SealedAct) {
  const { what } = actInWords({ action, facts })
  return { type: 'act', id, at: occurred_at, ...others, action, facts, what }
}

/** Of filters only the names: a value may be a day on which a patient comes. */
function disclosureFields(row: DisclosureFactsRow) {
  const number = (text: string | null) => (text === null ? null : Number(text))
  return {
    type: 'disclosure',
    id: row.id,
    at: row.disclosed_at,
    company_id: row.company_id,
    key_pair_id: row.key_pair_id,
    location_id: row.location_id,
    dataset: row.dataset,
    notes: row.notes === 'true',
    filters: Object.keys(JSON.parse(row.filters_text)),
    records: number(row.records),
    counted: number(row.counted),
    digested: number(row.digested),
    coverage: row.coverage,
    ip: row.ip,
    request_id: row.request_id,
  }
}
