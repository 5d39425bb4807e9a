import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/value'
import { Problem } from '../errors/problem.ts'
import { explainMismatch } from './mismatch.ts'

/** A JSON body that fits the schema. Throws field_invalid, naming the field and the rule. */
export function readJson<T extends TSchema>(schema: T, body: unknown): Static<T> {
  if (body === undefined) throw new Problem('content_type_unsupported')
  // The schema's own static type is what Check has just proven.
  if (Check(schema, body)) return body as Static<T>
  throw new Problem('field_invalid', {
    errors: explainMismatch(Type.Object({ body: schema }), { body }).errors.replace(/\bbody\.?/, ''),
  })
}
