import { type Static, type TProperties, Type } from 'typebox'
import { limits } from '../limits.ts'
import { heartbeat } from './heartbeat.ts'
import { shortText, sourceLocation } from './location.ts'
import type { IngestRouteName } from './route.ts'

/** The number that the agent's next upload had when it began to read a list. */
const beganAtUpload = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const credential = Type.String({
  minLength: 1,
  maxLength: limits.credentialLengthMax,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
})

const name = Type.String({ maxLength: 100 })

/** The JSON body of each route that takes one. Records and slices of lists are lines: see `recordLines` and `sliceLines`. */
export const ingestBodies = {
  enrolAgent: body({
    enrolment_code: credential,
    name: Type.Optional(shortText),
    version: Type.Optional(shortText),
    /** The key of the agent whose place this one takes: it ends. */
    replaces_agent_key: Type.Optional(credential),
  }),
  heartbeat: body(heartbeat),
  /** `refused`: the file was not what was signed or announced; `rolled_back`: it was tried, and the version before runs again. */
  reportRelease: body({ outcome: Type.Union([Type.Literal('refused'), Type.Literal('rolled_back')]) }),
  sendLocations: body({
    locations: Type.Array(sourceLocation, { maxItems: 1000 }),
    /** True: the system has no other location. */
    complete: Type.Optional(Type.Boolean()),
    /** The datasets that the system provides at all; left out: every one. A name that the service does not know changes nothing. */
    datasets: Type.Optional(Type.Array(name, { maxItems: 100 })),
    /** By dataset, the attributes of its source that the system never provides. Names that the service does not know change nothing. */
    attributes_not_provided: Type.Optional(
      Type.Record(name, Type.Array(name, { maxItems: 500 }), { maxProperties: 100 }),
    ),
  }),
  beginList: body({ began_at_upload: beganAtUpload }),
  finishList: body({}),
} as const satisfies Partial<Record<IngestRouteName, unknown>>

export type IngestBodies = { [name in keyof typeof ingestBodies]: Static<(typeof ingestBodies)[name]> }

function body<T extends TProperties>(properties: T) {
  return Type.Object(properties, { additionalProperties: false })
}
