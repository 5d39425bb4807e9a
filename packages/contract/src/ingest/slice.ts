import { Type } from 'typebox'
import { nullable, sourceId } from '../attribute.ts'

const key = sourceId('Key of a record')

/** Hexadecimal digits of a hash in a complete list: the first ones of the SHA-256 of the record's canonical source. */
export const listHashLength = 16

/**
 * The lines of a slice of a complete list. The first says after which key the slice begins: the last one of the slice before, null for the first
 * slice. The others name keys in the order of their bytes, each with the hash of what the agent believes was sent, where it knows.
 */
export const sliceLines = {
  begin: Type.Object({ after: nullable(key) }, { additionalProperties: false }),
  entry: Type.Object(
    { source_id: key, hash: Type.Optional(Type.String({ pattern: `^[\\da-f]{${listHashLength}}$` })) },
    { additionalProperties: false },
  ),
}
