import type { AuditKind } from '@bridgework/contract/portal'
import { type Static, type TObject, Type } from 'typebox'
import { Check, Clean } from 'typebox/value'
import { actsByKind } from './acts.ts'
import { type Act, fill, unfilled } from './facts.ts'

type ByKind = typeof actsByKind
type ByAction = { [Kind in AuditKind]: (acts: ByKind[Kind]) => void }[AuditKind] extends (acts: infer Acts) => void
  ? Acts
  : never

/** An act that is put on record: `<thing>.<verb>`, an action of the contract's table among them. */
export type AuditAction = keyof ByAction

export type FactsOf<Action extends AuditAction> = Static<TObject<ByAction[Action]['facts']>>

const all = Object.entries(actsByKind).flatMap(([kind, acts]) =>
  Object.entries<Act>(acts).map(([action, act]) => ({ action, kind, ...act, shape: Type.Object(act.facts) })),
)
const byAction = new Map(all.map((act) => [act.action, act]))

/** The facts as they are stored: what their shape names, and nothing that an object of the caller has besides. */
export function toStored(action: AuditAction, facts: object): unknown {
  const shape = byAction.get(action)?.shape
  // A copy, which `Clean` changes. PostgreSQL takes no half of a character.
  const copy = JSON.parse(
    JSON.stringify(facts, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value)),
  )
  return shape ? Clean(shape, copy) : copy
}

/** Stored facts of this action; null where they have another shape, as those of another release can. */
export function factsOf<Action extends AuditAction>(action: Action, facts: unknown): FactsOf<Action> | null {
  const shape = byAction.get(action)?.shape
  return shape && Check(shape, facts) ? (facts as FactsOf<Action>) : null
}

/**
 * An act in words, without codes and ids: `what` is a sentence without its subject, who is in the entry. An act of another release has what is known of
 * it: what it is called in general, or its name.
 */
export function actInWords({ action, facts }: { action: string; facts: unknown }): {
  what: string
  details: string | null
} {
  const act = byAction.get(action)
  if (!act || !Check(act.shape, facts)) {
    return { what: act ? unfilled(act.general) : nameInWords(action), details: null }
  }
  const said = act.say(facts as never)
  const { what, details } = typeof said === 'string' ? { what: said, details: null } : said
  const filled = (sentence: string) => fill(sentence, act.facts, facts)
  return { what: filled(what), details: details === null ? null : filled(details) }
}

/** The kind of an act; null for one of another release. */
export function kindOf(action: string): AuditKind | null {
  return (byAction.get(action)?.kind as AuditKind | undefined) ?? null
}

/** The names of the acts of a kind. */
export function actionsOf(kind: AuditKind): string[] {
  return Object.keys(actsByKind[kind])
}

/** The names of the acts whose sentence always has this text in it, in any case. */
export function actionsSaying(search: string): string[] {
  const wanted = search.toLowerCase()
  return all.filter(({ general }) => unfilled(general).toLowerCase().includes(wanted)).map(({ action }) => action)
}

/** `records.move` is "Records move". */
function nameInWords(action: string): string {
  const words = action.replaceAll(/[._]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
