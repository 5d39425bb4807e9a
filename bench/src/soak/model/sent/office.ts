import { type DatasetName, getDataset, type SourceRecord } from '@bridgework/contract'
import type { Random } from '@bridgework/practice-simulator'
import { canonicalOf, type Line, type ModelLocation } from '../model.ts'

/**
 * Keys of an office, some of which are hard to write in JSON, in SQL or in a line. No two locations have one in common: a record that one of them
 * misses and another has would have moved (docs/decisions/moves-between-locations.md), which the model does not play.
 */
export function keyOf({ sourceId }: ModelLocation, number: number): string {
  const odd = ['é', ' ', '"', '\\', '\u2028', '😀', "'", '%']
  const key = number % 9 === 0 ? `${number}${odd[(number / 9) % odd.length]}x` : String(number)
  return sourceId === '1' ? key : `${sourceId}/${key}`
}

/** A record as an agent reads it: the contract's example, with other values in what matters. */
export function randomSource(
  random: Random,
  location: ModelLocation,
  name: DatasetName,
  keysMax: number,
): SourceRecord {
  const definition = getDataset(name)
  const source: Record<string, unknown> = { ...definition.example }
  const key = () => keyOf(location, random.whole(1, keysMax))
  const keyOrNull = () => (random.chance(0.2) ? null : key())
  for (const member of Object.keys(source)) {
    if (member.endsWith('_source_id') && member !== 'claim_source_id') source[member] = keyOrNull()
    else if (member.endsWith('_source_ids')) source[member] = Array.from({ length: random.whole(0, 3) }, key)
  }
  for (const note of definition.notes)
    source[note] = random.chance(0.4) ? `Note ${random.whole(1, 9)} “of staff”\n` : null
  source.is_hidden = random.chance(0.08)
  Object.assign(source, valuesOf(random, name, keyOrNull))
  return source
}

function valuesOf(random: Random, name: DatasetName, keyOrNull: () => string | null): Record<string, unknown> {
  const text = (what: string) => `${what} ${random.whole(1, 50)}${random.chance(0.1) ? ' “ü\\😀' : ''}`
  const amount = () => `${random.whole(-900, 900)}.${random.whole(10, 99)}`
  switch (name) {
    case 'fee_schedules': {
      const fee = { procedure_code: 'D0120', provider_source_id: null, effective_on: null }
      const fees = Array.from({ length: random.whole(0, 4) }, () => ({ ...fee, amount: amount() }))
      return { name: text('Schedule'), is_global: random.chance(0.5), fees }
    }
    case 'insurance_plans':
      return { plan_name: text('Plan'), renewal_month: random.whole(1, 12) }
    case 'patients':
      return { last_name: text('Name'), first_name: random.chance(0.2) ? null : text('Robin') }
    case 'appointments':
      return { provider_name: text('Dr.'), starts_at: random.chance(0.1) ? null : startOf(random) }
    case 'treatments':
      return { description: text('Filling'), quantity: random.whole(1, 9), fee: amount() }
    case 'ledger_transactions': {
      const allocations = Array.from({ length: random.whole(0, 3) }, () => ({
        treatment_source_id: keyOrNull(),
        amount: amount(),
      }))
      return { amount: amount(), provider_name: text('Dr.'), allocations }
    }
    case 'patient_referrals':
      return { source_name: text('Referrer'), rank: random.whole(1, 9) }
  }
}

/** One of some hundred half hours of four years, so that several records have the same. */
export function startOf(random: Random): string {
  return new Date(Date.UTC(2024, 0, 1) + random.whole(0, 400) * 87 * 1_800_000).toISOString()
}

/** So many records a dataset has at most, but for the large location's plans: every copy is compared in every round. One of each office has more. */
export function recordsMaxOf({ sourceId }: ModelLocation, name: DatasetName): number {
  return sourceId === '1' && name === 'treatments' ? 3_000 : 300
}

/** Lines of an upload: of known records some as they are and some changed, removals, returns, and new ones. Each key once. */
export function randomLines(random: Random, location: ModelLocation, name: DatasetName, count: number): Line[] {
  const known = [...location.datasets[name].records.values()]
  const lines = new Map<string, Line>()
  const keysMax = Math.min(recordsMaxOf(location, name), Math.max(30, known.length + count))
  for (let index = 0; index < count; index += 1) {
    const record = known.length > 0 && random.chance(0.6) ? random.pick(known) : null
    if (!record) {
      const sourceId = keyOf(location, random.whole(1, keysMax))
      lines.set(sourceId, { sourceId, attributes: randomSource(random, location, name, keysMax) })
      continue
    }
    const { sourceId, source } = record
    const way = random.next()
    if (way < 0.3) lines.set(sourceId, { sourceId, attributes: source })
    else if (way < 0.5) lines.set(sourceId, { sourceId, attributes: null })
    else if (way < 0.7) lines.set(sourceId, { sourceId, attributes: { ...source, is_hidden: false } })
    else lines.set(sourceId, { sourceId, attributes: randomSource(random, location, name, keysMax) })
  }
  const unknown = keyOf(location, 0)
  if (lines.size === 0 || random.chance(0.05)) lines.set(unknown, { sourceId: unknown, attributes: null })
  return [...lines.values()]
}

/** The body of an upload. `isPlain`: as agents write it; else members stand in another order, and lines have blanks. */
export function bodyOf(random: Random, name: DatasetName, lines: readonly Line[], isPlain: boolean): string {
  return lines
    .map(({ sourceId, attributes }) => {
      if (attributes === null) return JSON.stringify({ source_id: sourceId, removed: true })
      const plain = `{"source_id":${JSON.stringify(sourceId)},"attributes":${canonicalOf(name, attributes)}}`
      if (isPlain || random.chance(0.5)) return plain
      const turned = Object.fromEntries(Object.entries(attributes).toReversed())
      return ` ${JSON.stringify({ attributes: turned, source_id: sourceId })} `
    })
    .join('\n')
}
