import { type Static, Type } from 'typebox'

const records = Type.Integer({ minimum: 1, maximum: 500, description: 'How many records' })

/** What befalls a request: refused with a status, cut after so many bytes of the answer, or answered so many milliseconds later. */
export const faultPattern = '^(429|503|401|cut:\\d{1,7}|slow:([1-9]\\d{0,3}|[12]\\d{4}|30000))$'

/** What a vendor may let happen in its sandbox. */
export const sandboxAction = Type.Union([
  Type.Object(
    {
      action: Type.Literal('fault'),
      fault: Type.String({ pattern: faultPattern }),
      requests: Type.Integer({ minimum: 1, maximum: 1000 }),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { action: Type.Literal('token_lifetime'), seconds: Type.Integer({ minimum: 60, maximum: 21_600 }) },
    { additionalProperties: false },
  ),
  Type.Object({ action: Type.Enum(['change', 'remove']), records }, { additionalProperties: false }),
  Type.Object(
    { action: Type.Literal('silence'), minutes: Type.Integer({ minimum: 0, maximum: 120 }) },
    { additionalProperties: false },
  ),
  Type.Object(
    { action: Type.Enum(['bring_back', 'hold_removal', 'rename_carrier', 'merge']) },
    { additionalProperties: false },
  ),
  Type.Object(
    { action: Type.Enum(['clear_faults', 'end_grant', 'give_grant', 'reset']) },
    { additionalProperties: false },
  ),
])

export type SandboxAction = Static<typeof sandboxAction>

/** What a vendor's sandbox is like now. */
export const sandboxState = Type.Object({
  practice: Type.Object({
    organization_id: Type.String(),
    /** False: it is the demo practice, which others use too. */
    is_own: Type.Boolean(),
    datasets_granted: Type.Array(Type.String()),
    silent_until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  }),
  fault: Type.Union([Type.Object({ fault: Type.String(), requests_left: Type.Integer() }), Type.Null()]),
  token_lifetime_seconds: Type.Integer(),
})

export type SandboxState = Static<typeof sandboxState>
