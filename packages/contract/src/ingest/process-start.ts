import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'

const processId = Type.String({ pattern: '^[0-9a-f]{32}$' })

/** How many earlier processes one may name. */
export const processesBeforeMax = 20

/** What a process of an agent says of its start, so that a second copy of the agent's folder is told from a restart. */
export const processStart = Type.Object(
  {
    /** A random name of this start. */
    id: processId,
    /** The process before it, as its state knows; several where it is not known which of them the service took. */
    before: Type.Array(processId, { maxItems: processesBeforeMax }),
    /** True: the service is not known to have taken any process of this state. */
    is_new: Type.Boolean(),
    /** The number of its next upload. */
    next_upload: Type.Integer({ minimum: 1 }),
    /** A hash of the computer's name and the path of the state, which only one process at a time can have open. */
    place: Type.String({ pattern: '^[0-9a-f]{16}$' }),
    /** The computer's name, for people. */
    computer: Type.String({ maxLength: 255, pattern: '^[^\\u0000]*$' }),
  },
  { additionalProperties: false },
)

export type ProcessStart = Readonly<Static<typeof processStart>>

/** As a header takes it: ASCII alone. */
export function packProcessStart(start: ProcessStart): string {
  return encodeURIComponent(JSON.stringify(start))
}

/** What `packProcessStart` wrote; null for anything else. */
export function readProcessStart(text: string): ProcessStart | null {
  try {
    const start: unknown = JSON.parse(decodeURIComponent(text))
    return Check(processStart, start) ? start : null
  } catch {
    return null
  }
}
