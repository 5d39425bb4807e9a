import { type TSchema, Type } from 'typebox'
import { instant, nullable } from './attribute.ts'
import { directoryMeta, freshness } from './envelope.ts'

/** A removal that waits for a person of the practice. */
export const removalHeld = nullable(
  Type.Object(
    {
      missing: Type.Integer({
        description: 'Number of visible records that the practice management system no longer has',
      }),
      visible: Type.Integer({ description: 'Number of visible records when the removal was held' }),
      held_at: instant('When the removal was held'),
    },
    { description: 'A removal that a person must confirm, because it would hide so many of the visible records' },
  ),
)

const text = (description: string) => Type.String({ description })
const watermark = Type.String({
  format: 'date-time',
  description:
    'As the first page of the list gives it now. Equal to yours: nothing changed. Null: not read since the grant, so the next delta is whole',
})

/** What each kind of row of /changes has, in the order in which the kinds follow each other. */
const attributesOf = {
  agreement: {
    version: Type.Integer({ description: 'Version of the newest agreement' }),
    enforced_at: instant('From when on it must be accepted'),
    accepted_at: nullable(instant('When your owner accepted it')),
  },
  key: {
    client_id: text('The public half of the key pair'),
    ended_at: nullable(instant('When the key pair or the access ended')),
  },
  location: {
    location_id: text('Id of the location'),
    organization_id: text('Organization that it belongs to'),
    is_active: Type.Boolean({ description: 'False when the practice has closed the location' }),
    updated_at: instant('When an attribute of the location last changed'),
  },
  grant: {
    location_id: text('Id of the location'),
    dataset: text('Name of the dataset'),
    granted_at: nullable(instant('Since when you may read it')),
    ended_at: nullable(instant('When the key pair or the access ended')),
  },
  dataset: {
    location_id: text('Id of the location'),
    dataset: text('Name of the dataset'),
    granted_at: nullable(instant('Since when you may read it')),
    next_fetch_modified_since: nullable(watermark),
    freshness,
    removal_held: removalHeld,
  },
} as const satisfies Record<string, Record<string, TSchema>>

export type ChangeKind = keyof typeof attributesOf

// The keys of a literal are what the type says.
export const changeKinds = Object.keys(attributesOf) as ChangeKind[]

/** A row of /changes. One schema for all kinds, because generators make little of a choice between several. */
export const change = Type.Object({
  id: text('What the row is of'),
  type: Type.Enum([...changeKinds], {
    description:
      'dataset: one that you may read. grant: an access that began or ended. location: new or changed. agreement: the newest. key: generated or ended. Further values may be added',
  }),
  attributes: Type.Object(
    Object.fromEntries(
      Object.values(attributesOf).flatMap((attributes) =>
        Object.entries<TSchema>(attributes).map(([name, schema]) => [name, Type.Optional(schema)]),
      ),
    ),
    { description: 'Which of them a row has depends on its type' },
  ),
})

/** The body of a webhook's message. Its `data` is a row of /changes, or that of a test, which says nothing. */
export const webhookMessage = Type.Object({
  type: Type.Enum([...changeKinds, 'test'], { description: 'As of `data`. Further values may be added' }),
  timestamp: instant('When it was sent'),
  sequence: Type.Integer({ minimum: 0, description: 'Counts the messages of the webhook; 0 for a test' }),
  epoch: directoryMeta.properties.epoch,
})

/** `meta` of /changes. */
export const changesMeta = Type.Object({
  has_more: Type.Boolean({ description: 'True when there are more rows now' }),
  next_after: text('Pass it as `after`'),
  is_whole: Type.Boolean({
    description:
      'True: all that there is, on all pages; what has no row is not granted. Without `after`, after a restore of the service, and when its clock was set back',
  }),
  epoch: directoryMeta.properties.epoch,
  request_id: directoryMeta.properties.request_id,
})
