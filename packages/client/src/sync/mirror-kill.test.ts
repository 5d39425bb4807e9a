import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '../dataset-resource.ts'
import { aRecord, clientOf, someClient, type TestLocation } from '../test-client.ts'
import { seededRandom, someMishap, startProxy } from '../test-proxy.ts'
import { assertEqualCopy, openStore, type StoreKind, somePlace, storeKinds } from './test-mirror.ts'

/** The soak sets it to more. */
const runs = Number(process.env.BRIDGEWORK_TEST_MIRROR_RUNS ?? 1)

for (const kind of storeKinds) {
  for (let run = 0; run < runs; run += 1) {
    test(`${kind}: a mirror that is killed again and again, behind a network that fails, of practices that live, ends equal to the service (${run + 1})`, async (t) => {
      const seed = Number(process.env.BRIDGEWORK_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
      t.diagnostic(`seed ${seed}`)
      await mirrorUnderFire(t, kind, seededRandom(seed))
    })
  }
}

async function mirrorUnderFire(t: TestContext, kind: StoreKind, random: () => number): Promise<void> {
  const { world, vendor, locations } = await someClient(t, { locations: 3, insurancePlans: 30 })
  const proxy = await startProxy(t, world.url, someMishap(random, 0.1))
  const place = await somePlace(t, kind)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-tokens-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  const begin = () =>
    spawn(
      process.execPath,
      [join(import.meta.dirname, 'test-mirror-process.ts'), kind, place, proxy.url, join(folder, 'tokens.json')],
      { env, stdio: ['ignore', 'pipe', 'inherit'] },
    )

  let kills = 0
  const writing = liveOn(locations, random, 40)
  let isWriting = true
  const written = writing.finally(() => {
    isWriting = false
  })
  while (isWriting) {
    const child = begin()
    t.after(() => child.kill('SIGKILL'))
    // Long enough to start, and sometimes for several rounds.
    await sleep(250 + random() * 800)
    child.kill('SIGKILL')
    await ended(child)
    kills += 1
  }
  await written
  const last = begin()
  t.after(() => last.kill('SIGKILL'))
  // A round that began before the writer stopped is no proof; the second began after it.
  await saidRound(last, 2)
  last.kill('SIGKILL')
  await ended(last)

  const store = await openStore(kind, place)
  const direct = clientOf(world, vendor)
  const records = await assertEqualCopy(
    direct,
    store,
    locations.map(({ id }) => id),
  )
  const left = await store.positions()
  assert.ok(left.every(({ walk, watermark }) => walk === null && watermark !== null))
  await store.close()
  t.diagnostic(`${kills} kills, ${records} records, ${JSON.stringify(Object.fromEntries(proxy.seen))}`)
}

/** Practices live: records appear, change, are removed and come back, in every dataset. */
async function liveOn(locations: readonly TestLocation[], random: () => number, uploads: number): Promise<void> {
  for (let number = 0; number < uploads; number += 1) {
    const location = locations[Math.floor(random() * locations.length)]
    const dataset = datasetNames[Math.floor(random() * datasetNames.length)]
    if (!location || !dataset) continue
    const records = Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
      const note = { note: `note ${number} \u2028 ${random()}` }
      const name = dataset === 'patients' ? { first_name: note.note } : note
      const own =
        dataset === 'fee_schedules'
          ? { name: note.note }
          : dataset === 'insurance_plans'
            ? { plan_name: note.note }
            : name
      const content = dataset === 'ledger_transactions' ? { description: note.note } : own
      return [`r${Math.floor(random() * 60)}`, random() < 0.15 ? null : aRecord(dataset, content)] as const
    })
    const answer = await location.upload(dataset, Object.fromEntries(records))
    assert.equal(answer.status, 200, answer.text)
    await sleep(random() * 120)
  }
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
