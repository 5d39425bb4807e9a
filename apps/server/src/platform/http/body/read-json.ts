import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Problem } from '../../errors/problem.ts'
import { explainMismatch } from './mismatch.ts'

/** A JSON body that fits the schema. Throws field_invalid, naming the field and the rule. */
export function readJson<T extends TSchema>(schema: T, body: unknown): Static<T> {
  if (body === undefined) throw new Problem('content_type_unsupported')
  // The schema's own static type is what Check has just proven.
  if (checkOf(schema).Check(body)) return body as Static<T>
  const { errors } = explainMismatch(Type.Object({ body: schema }), { body })
  throw new Problem('field_invalid', { errors: errors.replace(/^body\./, '').replace(/^body /, 'The body ') })
}

/** Schemas are compiled at their first use: of a body of a thousand locations, an interpreted check takes twenty times as long. */
function checkOf(schema: TSchema) {
  const known = checks.get(schema)
  if (known) return known
  const check = Compile(schema)
  checks.set(schema, check)
  return check
}

const checks = new WeakMap<TSchema, { Check: (value: unknown) => boolean }>()
