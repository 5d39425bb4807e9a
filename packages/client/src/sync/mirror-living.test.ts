import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf } from '../testing/test-client.ts'
import { seededRandom, someMishap, startProxy } from '../testing/test-proxy.ts'
import { assertEqualCopy, openStore, type StoreKind, someTarget, storeKinds } from './testing/test-mirror.ts'
import { livePractices } from './testing/test-practices.ts'
import { assertTypedRows } from './testing/test-typed-rows.ts'

/** The soak sets it to more. */
const runs = Number(process.env.BRIDGEWORK_TEST_MIRROR_RUNS ?? 1)
/** The seed of the first run; the next ones count on from it. */
const firstSeed = Number(process.env.BRIDGEWORK_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
/** Things that happen at the practices after all of their data has arrived once. */
const eventsAtLeast = 30

for (let run = 0; run < runs; run += 1) {
  test(`M01: mirrors of practices that live end equal to the service, also when they are killed again and again behind a network that fails (${run + 1})`, async (t) => {
    const seed = firstSeed + run
    t.diagnostic(`seed ${seed}`)
    const { world, vendor, practices } = await livePractices(t, seed)
    const ended = practices.live(eventsAtLeast)
    const inPeace = storeKinds.map((kind) =>
      mirrorInPeace(t, { kind, client: clientOf(world, vendor), isOver: practices.haveEnded }),
    )
    const underFire = storeKinds.map((kind, index) => {
      const random = seededRandom(seed + index * 7919)
      return mirrorUnderFire(t, { kind, random, target: world.url, vendor, isOver: practices.haveEnded })
    })
    const mirrors = await Promise.all([...inPeace, ...underFire])
    await ended
    for (const { kind, copy, said } of mirrors) {
      const store = await openStore(kind, copy)
      const records = await assertEqualCopy(clientOf(world, vendor), store, await practices.locationIds())
      const left = await store.positions()
      assert.ok(left.every(({ walk, watermark }) => walk === null && watermark !== null))
      await store.close()
      await assertTypedRows(kind, copy)
      t.diagnostic(`${kind}: ${said}, ${records} records, ${practices.events()} events`)
    }
  })
}

async function mirrorInPeace(
  t: TestContext,
  { kind, client, isOver }: { kind: StoreKind; client: ReturnType<typeof clientOf>; isOver: () => boolean },
) {
  const copy = await someTarget(t, kind)
  const store = await openStore(kind, copy)
  let rounds = 0
  for (let isLast = false; !isLast; rounds += 1) {
    // A round that began before the practices stood still is no proof.
    isLast = isOver()
    const report = await client.sync({ store, pageSize: 500 })
    assert.deepEqual(report.failed, [])
    await sleep(1000)
  }
  await store.close()
  return { kind, copy, said: `${rounds} rounds` }
}

/** Mirrors in a process that is killed until it is over, and then once more in peace. */
async function mirrorUnderFire(
  t: TestContext,
  options: {
    kind: StoreKind
    random: () => number
    target: string
    vendor: { clientId: string; clientSecret: string }
    isOver: () => boolean
  },
) {
  const { kind, random, target, vendor, isOver } = options
  const proxy = await startProxy(t, target, someMishap(random, 0.1))
  const copy = await someTarget(t, kind)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-tokens-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  const begin = () => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'testing/test-mirror-process.ts'), kind, copy, proxy.url, join(folder, 'tokens.json')],
      { env, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  let kills = 0
  while (!isOver()) {
    const child = begin()
    // Long enough to start, and sometimes for several rounds.
    await sleep(1000 + random() * 3000)
    child.kill('SIGKILL')
    await ended(child)
    kills += 1
  }
  const last = begin()
  // Both of them began after the practices stood still.
  await saidRound(last, 2)
  last.kill('SIGKILL')
  await ended(last)
  assert.ok(kills > 0)
  return { kind, copy, said: `${kills} kills, ${JSON.stringify(Object.fromEntries(proxy.seen))}` }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

/** Resolves after so many rounds. Throws when the process ends before. */
function saidRound(child: ChildProcess, times: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (part) => {
      text += part
      if ((text.match(/round/g) ?? []).length >= times) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the mirror ended with ${code}: ${text}`)))
  })
}
