import unhomoglyph from 'unhomoglyph'
import type { Queryable } from '../../platform/database/queryable.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'

/**
 * The name of a company or an organization in one spelling: Unicode's compatibility form (NFKC), single spaces. Throws Problem field_invalid for
 * characters that cannot be told from others or from nothing, and for letters of several scripts that could imitate another name.
 */
export function requireName(text: string, what: string): string {
  const given = requireText(text.replace(/\s+/g, ' '), what)
  const name = given.normalize('NFKC')
  const refuse = (rule: string) => {
    throw new Problem('field_invalid', { errors: `${what.charAt(0).toUpperCase()}${what.slice(1)} ${rule}` })
  }
  // Before NFKC, which makes letters of signs: TM of ™.
  if (!/^[\p{L}\p{M}0-9 .,'’&+\-–()/!:@#_]+$/u.test(given))
    refuse("may have letters, digits 0 to 9, spaces and these signs: . , ' & + - _ ( ) / ! : @ #")
  if (!/^[\p{L}0-9]/u.test(name)) refuse('must begin with a letter or a digit.')
  if (!/\p{L}/u.test(name)) refuse('must have a letter.')
  const scripts = scriptsOf(name)
  if (scripts === null || !isOneWriting(scripts))
    refuse('must not mix letters of several scripts, such as Latin and Cyrillic.')
  // What is left after NFKC belongs to no letter of these scripts: marks that are piled up.
  if (/\p{M}/u.test(name) && [...(scripts ?? [])].every((script) => composed.has(script)))
    refuse('must not have loose accents.')
  return name
}

const scripts = [
  ...['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Georgian', 'Ethiopic'],
  ...['Hangul', 'Han', 'Hiragana', 'Katakana', 'Bopomofo'],
] as const
type Script = (typeof scripts)[number]
const patterns = scripts.map((script) => [script, new RegExp(`\\p{Script=${script}}`, 'u')] as const)
/** Each of their letters with an accent is one character in NFKC. */
const composed: ReadonlySet<Script> = new Set(['Latin', 'Cyrillic', 'Greek'])
/** Scripts that are written beside each other in East Asia, as UTS 39 has them in "highly restrictive". */
const eastAsian: ReadonlySet<Script> = new Set(['Latin', 'Hangul', 'Han', 'Hiragana', 'Katakana', 'Bopomofo'])

/** The scripts of a text's letters; null when a letter is of another script than those that practices and vendors use. */
function scriptsOf(text: string): Set<Script> | null {
  const found = new Set<Script>()
  for (const [letter] of text.matchAll(/\p{L}/gu)) {
    const script = patterns.find(([, pattern]) => pattern.test(letter))?.[0]
    if (script !== undefined) found.add(script)
    else if (!/\p{Script=Common}/u.test(letter)) return null
  }
  return found
}

function isOneWriting(found: ReadonlySet<Script>): boolean {
  return found.size <= 1 || [...found].every((script) => eastAsian.has(script))
}

/**
 * What two names have in common when people mistake one for the other: without accents, signs, spaces, case and legal form, and with one
 * character for all that look the same (the skeleton of UTS 39).
 */
export function nameKey(name: string): string {
  const words = name
    .split(/[^\p{L}\p{M}\p{N}.]+/u)
    .map(skeleton)
    .filter((word) => word !== '')
  const last = words.findLastIndex((word) => !legalForms.has(word))
  const first = words.length > 1 && words[0] === article ? 1 : 0
  return words.slice(first, Math.max(last, first) + 1).join('')
}

function skeleton(word: string): string {
  const bare = (text: string) => unhomoglyph(text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase()
  // Twice: a small letter can look like another character than its capital. Then all that may be a stroke is one.
  return bare(bare(word))
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/i/g, 'l')
}

const article = skeleton('The')
const legalForms: ReadonlySet<string> = new Set(
  [
    ...[
      'Inc',
      'Incorporated',
      'Corp',
      'Corporation',
      'Co',
      'Company',
      'LLC',
      'LLP',
      'LP',
      'Ltd',
      'Limited',
      'PLC',
      'PLLC',
    ],
    ...['PC', 'PA', 'GmbH', 'AG', 'SA', 'SAS', 'SARL', 'BV', 'AB', 'Oy', 'Pty', 'Pte'],
  ].map(skeleton),
)

/** Words by which a company would speak for somebody else. */
const reserved: ReadonlySet<string> = new Set(['Bridgework', 'Official', 'Verified'].map(skeleton))

/**
 * A name for a company, with its key. Throws Problem field_invalid for one that cannot be, and `name_taken` for one that looks like that of
 * another company, or like one that another had within a year. Two that ask at once take turns: hand down a transaction.
 */
export async function claimCompanyName(
  client: Queryable,
  text: string,
  companyId: string | null,
): Promise<{ name: string; key: string }> {
  const name = requireName(text, 'the name of a company')
  const key = nameKey(name)
  if (name.split(/[^\p{L}\p{N}]+/u).some((word) => reserved.has(skeleton(word))))
    throw new Problem('field_invalid', {
      errors: 'The name of a company must not have the words Bridgework, official or verified.',
    })
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`company name ${key}`])
  const { rows } = await client.query(
    `select from company where name_key = $1 and erased_at is null and id is distinct from $2::uuid
      union all
     select from company_former_name
      where name_key = $1 and company_id is distinct from $2::uuid and used_until > now() - interval '1 year'
      limit 1`,
    [key, companyId],
  )
  if (rows.length > 0) throw new Problem('name_taken')
  return { name, key }
}

/** Gives companies the key of their name again after a change of `nameKey`. Repeatable: called at every start. */
export async function ensureNameKeys(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ id: string; name: string; name_key: string }>(
    'select id, name, name_key from company where erased_at is null',
  )
  const wrong = rows.map((row) => ({ ...row, key: nameKey(row.name) })).filter(({ key, name_key }) => key !== name_key)
  if (wrong.length === 0) return
  await db.query(
    `update company set name_key = given.key
       from unnest($1::uuid[], $2::text[]) as given (id, key)
      where company.id = given.id`,
    [wrong.map(({ id }) => id), wrong.map(({ key }) => key)],
  )
}
