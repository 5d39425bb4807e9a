import { setTimeout as sleep } from 'node:timers/promises'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import { createRandom, type Random } from '@bridgework/practice-simulator'
import { miscountStatement } from '@bridgework/server/src/modules/records/testing/test-miscounts.ts'
import { type Audit, createAudit } from './audit.ts'
import { createWorld } from './create-world.ts'
import { Difference } from './difference.ts'
import { fillLarge } from './large.ts'
import { compareMirror, createMirrors, type Mirrors, readDelta, walkOn } from './mirror.ts'
import { regenerateKeys, suspendAndResume } from './people.ts'
import { readDigests } from './reads.ts'
import type { LastUploads } from './sent/uploads.ts'
import type { Service } from './service.ts'
import { firstGrants, step } from './steps.ts'
import { type Strikes, startStrikes } from './strikes.ts'
import { persist, settle } from './waiting.ts'
import { allLocations, type Organization, type Planted, type World } from './world.ts'

export type ModelOptions = {
  seed: string
  /** How long steps are taken. */
  minutes: number
  /** Between two comparisons of everything. */
  roundSeconds: number
  /** On average, between two kills or jumps. */
  strikeEveryMs: number
  organizations: number
  companies: number
  /** Whether a location has more than is changed at once. */
  hasLarge?: boolean
  planted?: Planted
  say: (text: string) => void
}

/**
 * The whole service beside a model of it: offices, vendors and people do what they may and may not, at random, while two processes and PostgreSQL are
 * killed and clocks jump. Every answer is held against the model when it comes, and every copy and every disclosure at the end of each round. Throws at
 * the first difference, with the last steps of its location. Returns what was done.
 */
export async function playModel(service: Service, options: ModelOptions): Promise<string> {
  const { seed, minutes, roundSeconds, organizations, companies, planted = null, say } = options
  const randomOf = (name: string) => createRandom(`${seed} ${name}`)
  const world = await createWorld(service, { organizations, locations: 2, companies, planted, randomOf })
  const [mirrors, last, audit] = [createMirrors(), new Map() as LastUploads, await createAudit(world)]
  const random = randomOf('rounds')
  await firstGrants(world, random)
  const large = options.hasLarge ? (world.organizations[0]?.locations[0] ?? null) : null
  if (large) await fillLarge(world, last, large)
  const strikes = startStrikes(world, randomOf('strikes'), options.strikeEveryMs)
  const compare = () => compareAll(world, mirrors, audit, random)
  const endsAt = performance.now() + minutes * 60_000
  try {
    for (let round = 1; performance.now() < endsAt || world.planted !== null; round += 1) {
      const roundEndsAt = performance.now() + Math.min(roundSeconds * 1_000, minutes * 60_000)
      await together(world, async (organization) => {
        while (performance.now() < roundEndsAt && world.failure === null)
          await step({ world, mirrors, last, large }, organization)
      })
      await (random.chance(0.5) ? suspendAndResume : regenerateKeys)(world, random.pick(world.companies))
      await compare()
      if (random.chance(0.1)) await verifyMeanwhile(service)
      say(`round ${round}: ${describe(world, mirrors, audit, strikes)}`)
    }
    await strikes.stop()
    await compare()
    return describe(world, mirrors, audit, strikes)
  } catch (error) {
    await strikes.stop().catch(() => {})
    throw error instanceof Difference ? explained(world, error) : error
  } finally {
    for (const server of service.servers) server.setClock(0)
    await Promise.all([world.pool.end(), world.ownerPool.end()])
  }
}

/** For all organizations at once. The first failure ends all of it. */
async function together(world: World, work: (organization: Organization) => Promise<void>): Promise<void> {
  const working = world.organizations.map((organization) =>
    work(organization).catch((error: unknown) => {
      world.failure ??= error
    }),
  )
  await Promise.all(working)
  if (world.failure !== null) throw world.failure
}

function explained(world: World, { message, place }: Difference): Difference {
  const steps = place === null ? [] : world.stepsOf(place).map((each) => `  ${each}`)
  const where = place === null ? '' : ` at location ${place}, whose last steps were:\n${steps.join('\n')}\nand then`
  return new Difference(place, `1 difference${where}: ${message}`)
}

/** Every copy catches up and equals the model, some digests do, counts are right, and what was read is on record. */
async function compareAll(world: World, mirrors: Mirrors, audit: Audit, random: Random): Promise<void> {
  for (const location of allLocations(world)) await settle(world, location)
  // Each location by itself, because a company may read five locations at once for the first time.
  await together(world, async ({ locations }) => {
    const places = locations.flatMap((location) => world.companies.map((company) => ({ location, company })))
    for (const { location, company } of places) {
      for (const name of world.access.datasetsOf(company.id, location.id)) {
        const mirror = mirrors.of(company, location, name)
        if (mirror.watermark === null) mirror.walk = null
        while (mirror.watermark === null) await walkOn(world, mirror, 5_000)
        await readDelta(world, mirror, { watermark: mirror.watermark, items: 5_000 })
        compareMirror(world, mirror)
        if (random.chance(0.1)) await readDigests(world, mirror)
      }
    }
  })
  await requireCounts(world)
  // What a killed process had handed to the database.
  await sleep(500)
  await audit.compare()
}

async function requireCounts(world: World): Promise<void> {
  const locations = new Map(allLocations(world).map((location) => [location.id, location]))
  const { rows } = await persist(world, () => world.ownerPool.query<{ miscount: string }>(miscountStatement))
  if (rows[0]) throw new Difference(null, rows.map(({ miscount }) => miscount).join('; '))
  const states = await persist(world, () =>
    world.ownerPool.query<{ location_id: string; dataset: DatasetName; total: string; visible: string }>(
      'select location_id, dataset, total, visible from dataset_state where location_id = any($1::bigint[])',
      [[...locations.keys()]],
    ),
  )
  for (const { location_id: id, dataset, total, visible } of states.rows) {
    const records = [...(locations.get(id)?.datasets[dataset].records.values() ?? [])]
    const seen = records.filter(({ source }) => source.is_hidden !== true).length
    if (Number(total) !== records.length || Number(visible) !== seen)
      throw new Difference(
        id,
        `${dataset}: the state counts ${total} and ${visible} visible, not ${records.length} and ${seen}`,
      )
  }
}

/** Both processes stop in order, so that everything is sealed, and then `disclosure verify` finds nothing. */
export async function verifyChain({ servers, operator, sealsDir }: Service): Promise<string> {
  for (const server of servers) {
    const code = await server.stop()
    if (code !== 0) throw new Difference(null, `server ${server.name} stopped with exit code ${code}`)
  }
  const { code, output } = await operator('disclosure', 'verify', '--seals', sealsDir, '--json')
  const report = code === 0 ? JSON.parse(output) : null
  if (report?.findings !== 0 || report.unsealed !== 0)
    throw new Difference(null, `disclosure verify (${code}): ${output}`)
  return `${report.seals} seals over ${report.disclosures} disclosures verified`
}

/** The same while entries come, and PostgreSQL may be killed, which ends the command. */
async function verifyMeanwhile({ operator, sealsDir }: Service): Promise<void> {
  const { code, output } = await operator('disclosure', 'verify', '--seals', sealsDir)
  if (code === foundExitCode) throw new Difference(null, `disclosure verify: ${output}`)
}

/** Of the command: something was found. */
const foundExitCode = 3

function describe(world: World, mirrors: Mirrors, audit: Audit, { counts: struck }: Strikes): string {
  const { uploads, lists, deltas, walks, exports, cuts, reads, acts, refusals, retries } = world.counts
  const kills = struck.server + struck.backend + struck.postmaster + struck.postgres
  const records = allLocations(world).flatMap(({ datasets }) => datasetNames.map((name) => datasets[name].records.size))
  return [
    `${uploads} uploads`,
    `${lists} lists`,
    `${acts} acts`,
    `${deltas} deltas`,
    `${walks} walks`,
    `${exports} exports (${cuts} cut)`,
    `${reads} reads with ${audit.counts.entries} entries (${audit.counts.unreceived} did not arrive, ${audit.counts.twice} twice)`,
    `${kills} kills (${struck.server} server, ${struck.backend} backend, ${struck.postmaster} postmaster, ${struck.postgres} PostgreSQL)`,
    `${struck.clock} jumps`,
    `${refusals} refusals`,
    `${retries} retries`,
    `${allLocations(world).length} locations with ${records.reduce((sum, count) => sum + count, 0)} records`,
    `${mirrors.count()} copies`,
    '0 differences',
  ].join(', ')
}
