import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Random } from '@bridgework/practice-simulator'
import { takeOver } from './agents.ts'
import { addLocation } from './create-world.ts'
import { readDuringUpload, tookEffect } from './effects.ts'
import { renameShared } from './large.ts'
import { type Mirror, type Mirrors, readableOf, readDelta, readExport, walkOn } from './mirror.ts'
import type { ModelLocation } from './model.ts'
import { changeGrants, grantUntil, setAccess, setStampsAhead } from './people.ts'
import { readDigests, readDirectory, readFiltered, readRecord, readWrongly } from './reads.ts'
import { confirmRead, decide, sendList } from './sent/lists-sent.ts'
import { recordsMaxOf } from './sent/office.ts'
import {
  type LastUploads,
  randomUpload,
  repeatUpload,
  reuseKey,
  sendAndAsk,
  sendBadBody,
  sendSameBytes,
  sendTwo,
  sendUpload,
} from './sent/uploads.ts'
import type { Organization, World } from './world.ts'

/** `large`: the location that has more than is changed at once; null: there is none. */
export type Play = { world: World; mirrors: Mirrors; last: LastUploads; large: ModelLocation | null }

type Step = { weight: number; take: (play: Play, at: Place) => Promise<void> }
type Place = { organization: Organization; location: ModelLocation; name: DatasetName; random: Random }

/** An organization has no more locations than this: copies are compared in each round. */
const locationsMax = 4

const steps: readonly Step[] = [
  {
    weight: 20,
    async take({ world, last }, { location, name, random }) {
      await sendUpload(world, last, randomUpload(world, location, name, sizeOf(random, location, name)))
    },
  },
  {
    weight: 6,
    async take({ world, mirrors, last }, { location, name, random }) {
      const upload = randomUpload(world, location, name, random.whole(1, 40))
      await sendAndAsk(world, last, upload, (each) => tookEffect(world, mirrors, each))
    },
  },
  {
    weight: 6,
    async take({ world, mirrors, last }, { location, name, random }) {
      const upload = randomUpload(world, location, name, random.whole(1, 200))
      await readDuringUpload(world, mirrors, last, location, upload)
    },
  },
  {
    weight: 4,
    async take({ world, last }, { location, name, random }) {
      const other = random.chance(0.5) ? name : random.pick(datasetNames)
      await sendTwo(world, last, location, random, [name, other])
    },
  },
  { weight: 2, take: ({ world, last }, { organization }) => repeatUpload(world, last, organization) },
  { weight: 2, take: ({ world, last }, { organization }) => sendSameBytes(world, last, organization) },
  { weight: 2, take: ({ world, last }, { location, name }) => reuseKey(world, last, location, name) },
  { weight: 3, take: ({ world }, { location, name }) => sendBadBody(world, location, name) },
  { weight: 8, take: ({ world }, { location, name }) => sendList(world, location, name) },
  {
    weight: 6,
    take: ({ world }, { location, random }) => decide(world, random, location, waitingIn(location, random)),
  },
  { weight: 3, take: ({ world }, { location, name }) => confirmRead(world, location, name) },
  {
    weight: 0.3,
    async take({ world }, { organization }) {
      if (organization.locations.length < locationsMax) await addLocation(world, organization)
    },
  },
  {
    weight: 0.5,
    async take({ world, last, large }, { organization }) {
      if (large?.organizationId === organization.id) await renameShared(world, last, large)
    },
  },
  { weight: 0.5, take: ({ world, last }, { organization }) => takeOver(world, last, organization) },
  {
    weight: 5,
    take: ({ world }, { organization, random }) => changeGrants(world, organization, random.pick(world.companies)),
  },
  {
    weight: 0.4,
    take: ({ world }, { organization, random }) => grantUntil(world, organization, random.pick(world.companies)),
  },
  {
    weight: 0.5,
    take: ({ world }, { location, random }) =>
      setStampsAhead(world, location, random.pick([1, 1_000, 60_000, 240_000, 7_200_000])),
  },
  {
    weight: 40,
    take: withMirror(async ({ world }, mirror, random) => {
      if (mirror.watermark === null) return walkOn(world, mirror, random.pick([50, 5_000]))
      await readDelta(world, mirror, { watermark: mirror.watermark, items: random.pick([3, 50, 100, 5_000]) })
    }),
  },
  {
    weight: 10,
    take: withMirror(async ({ world }, mirror, random) => {
      if (mirror.earlier.length === 0) return
      const watermark = random.pick(mirror.earlier)
      await readDelta(world, mirror, { watermark, items: random.pick([20, 5_000]), isOld: true })
    }),
  },
  {
    // A page, and the next one in another step, after whatever happens in between.
    weight: 12,
    take: withMirror(async ({ world }, mirror, random) => {
      const { records } = mirror.location.datasets[mirror.name]
      await walkOn(world, mirror, pageSizeOf(random, records.size))
    }),
  },
  {
    weight: 8,
    take: withMirror(async ({ world }, mirror, random) => {
      if (mirror.walk?.page) mirror.walk = null
      const most = 200 + mirror.location.datasets[mirror.name].records.size * random.pick([40, 400, 1_200])
      const cutAfter = random.chance(0.6) ? random.whole(0, most) : undefined
      await readExport(world, mirror, { gzip: random.chance(0.6), ...(cutAfter !== undefined && { cutAfter }) })
    }),
  },
  { weight: 10, take: withMirror(({ world }, mirror, random) => readFiltered(world, random, mirror)) },
  { weight: 6, take: withMirror(({ world }, mirror, random) => readRecord(world, random, mirror)) },
  { weight: 3, take: withMirror(({ world }, mirror) => readDigests(world, mirror)) },
  {
    weight: 5,
    take: ({ world }, { location, name, random }) =>
      readWrongly(world, random, random.pick(world.companies), location, name),
  },
  {
    weight: 4,
    take: ({ world }, { location, random }) => readDirectory(world, random.pick(world.companies), location),
  },
]

const weights = steps.reduce((sum, { weight }) => sum + weight, 0)

/** One step at an organization, drawn from its own chance. */
export async function step(play: Play, organization: Organization): Promise<void> {
  const { random } = organization
  let drawn = random.next() * weights
  const chosen = steps.find(({ weight }) => {
    drawn -= weight
    return drawn < 0
  })
  const place = { organization, location: random.pick(organization.locations), name: random.pick(datasetNames), random }
  await chosen?.take(play, place)
}

/** Each company begins with something: all, one location, some datasets, with notes or without. */
export async function firstGrants(world: World, random: Random): Promise<void> {
  for (const organization of world.organizations) {
    for (const [index, company] of world.companies.entries()) {
      const locationId = index % 2 === 0 ? null : (organization.locations[0]?.id ?? null)
      const some = index < 2 ? datasetNames : datasetNames.filter(() => random.chance(0.6))
      const grants = some.map((dataset) => ({ locationId, dataset, notes: index % 3 === 0 }))
      await setAccess(world, organization, company, grants, null)
    }
  }
}

/** A read by one of the companies that may read something at the location; nothing where none may. */
function withMirror(take: (play: Play, mirror: Mirror, random: Random) => Promise<void>): Step['take'] {
  return async (play, { location, name, random }) => {
    const { world, mirrors } = play
    const readers = world.companies.flatMap((company) =>
      world.access.datasetsOf(company.id, location.id).map((dataset) => mirrors.of(company, location, dataset)),
    )
    if (readers.length === 0) return
    const ofDataset = readers.filter((mirror) => mirror.name === name)
    const mirror = random.pick(ofDataset.length > 0 ? ofDataset : readers)
    // What was begun under another grant is begun again.
    if (mirror.walk && mirror.walk.watermark.serial !== readableOf(world, mirror).serial) mirror.walk = null
    await take(play, mirror, random)
  }
}

/** Most uploads are small, and some have thousands of lines. */
function sizeOf(random: Random, location: ModelLocation, name: DatasetName): number {
  const way = random.next()
  if (way < 0.05) return random.whole(1, recordsMaxOf(location, name))
  return way < 0.2 ? random.whole(40, 200) : random.whole(1, 40)
}

function pageSizeOf(random: Random, records: number): number {
  // So that a walk comes to its end.
  return Math.max(random.pick([1, 5, 40, 300, 1_000, 5_000]), Math.ceil(records / 10))
}

/** A dataset of which a removal waits, where there is one. */
function waitingIn(location: ModelLocation, random: Random): DatasetName {
  const waiting = datasetNames.filter((name) => location.datasets[name].held !== null)
  return waiting.length > 0 ? random.pick(waiting) : random.pick(datasetNames)
}
