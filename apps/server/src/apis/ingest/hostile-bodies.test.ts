import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { limits } from '@bridgework/contract'
import { createSecretKey } from '../../modules/credentials/secret.ts'
import { aPlan, aRecord, someWorld, toNdjson } from '../../test-world.ts'
import { startServerProcess } from '../vendor/test-server.ts'

const mebibyte = 2 ** 20

/** How often everything is sent, by how many agents at once; another pair makes the long run of `npm run soak`. */
const [rounds = 1, agentsAtOnce = 2] = (process.env.BRIDGEWORK_TEST_HOSTILE_ROUNDS ?? '1,2').split(',').map(Number)

/** Heaps in megabytes; 0: Node's own. */
const heaps = [0, 256]

const repeated = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length))
const json = 'application/json'
const ndjson = 'application/x-ndjson'

const wide = 'w'.repeat(250)
const widePlans = Object.fromEntries(
  Array.from({ length: limits.uploadLinesMax }, (_, index) => [
    `w${index}`,
    aPlan({ plan_name: wide, group_number: wide, carrier_name: wide, employer_name: wide, payer_id: wide }),
  ]),
)
const schedule = aRecord('fee_schedules', {
  fees: Array.from({ length: 50_000 }, (_, index) => ({
    procedure_code: `D${index}`,
    amount: '125.00',
    provider_source_id: null,
    effective_on: null,
  })),
})

/** The worst that each route may be sent, legal and illegal: path below a location, type, body and the statuses that are right. */
const bodies: [what: string, path: string, type: string, body: () => string, statuses: number[]][] = [
  ['a full upload of wide plans', 'insurance_plans/records', ndjson, () => toNdjson(widePlans), [200]],
  ['a fee schedule of 50,000 fees', 'fee_schedules/records', ndjson, () => toNdjson({ s: schedule }), [200]],
  ['lists within lists', 'insurance_plans/records', ndjson, () => repeated('[', 15 * mebibyte), [413, 422]],
  [
    'lists within lists, by lines',
    'insurance_plans/records',
    ndjson,
    () => repeated('[[[[[[[[\n', 15 * mebibyte),
    [422],
  ],
  ['objects in one line', 'insurance_plans/records', ndjson, () => `[${repeated('{},', 7 * mebibyte)}0]`, [422]],
  ['an open string', 'insurance_plans/records', ndjson, () => `"${repeated('\\"', 15 * mebibyte)}`, [413]],
  ['empty lines', 'insurance_plans/records', ndjson, () => repeated('\n', 15 * mebibyte), [413, 422]],
  ['zeros', 'insurance_plans/records', ndjson, () => repeated('\0', 200 * mebibyte), [413]],
  [
    'objects for keys',
    'insurance_plans/reconcile',
    json,
    () => `{"began_at_upload":1,"source_ids":[${repeated('{},', 60 * mebibyte)}{}]}`,
    [422],
  ],
  ['lists for a list', 'insurance_plans/reconcile', json, () => repeated('[', 60 * mebibyte), [400, 422]],
  [
    'one endless key',
    'insurance_plans/reconcile',
    json,
    () => `{"source_ids":["${repeated('k', 60 * mebibyte)}"`,
    [422],
  ],
  ['nothing but spaces', 'insurance_plans/reconcile', json, () => repeated(' ', 60 * mebibyte), [400, 422]],
  [
    'a million keys, or four in the long run',
    'insurance_plans/reconcile',
    json,
    () =>
      `{"began_at_upload":1,"source_ids":[${Array.from({ length: rounds > 1 ? 4_000_000 : 1_000_000 }, (_, index) => `"k${index}"`).join(',')}]}`,
    [200, 409],
  ],
  ['lists within lists', 'insurance_plans/cycles', json, () => repeated('[', 16 * 1024 - 10), [400, 422]],
]

for (const heap of heaps) {
  test(`the worst bodies of every ingest route keep nobody waiting, ${heap === 0 ? "with Node's own heap" : `in a heap of ${heap} MB`}`, async (t) => {
    const secret = randomBytes(32)
    const world = await someWorld(t, { secretKey: createSecretKey(secret) })
    const execArgv = heap === 0 ? [] : [`--max-old-space-size=${heap}`]
    const server = await startServerProcess(t, world, secret, { execArgv })
    const offices = await Promise.all(
      Array.from({ length: agentsAtOnce }, async () => {
        const { id, organizationId } = await world.addLocation()
        return { id, organizationId, agent: await world.addAgent(organizationId) }
      }),
    )
    const health: number[] = []
    let isOver = false
    const watch = (async () => {
      while (!isOver) {
        const begun = performance.now()
        await world.request('/healthz', { on: server.url })
        health.push(performance.now() - begun)
        await sleep(10)
      }
    })()
    // A request that fails ends the watch with the test.
    t.after(() => {
      isOver = true
      return watch.catch(() => {})
    })
    let number = 0
    const send = async (path: string, agent: { agentId: string; agentKey: string }, type: string, packed: Buffer) => {
      number += 1
      return await world.request(`/ingest/v1/${path}`, {
        on: server.url,
        method: 'POST',
        headers: {
          authorization: `Bearer ${agent.agentKey}`,
          'content-type': type,
          'content-encoding': 'gzip',
          'idempotency-key': `${agent.agentId}-${number}`,
        },
        body: new Uint8Array(packed),
      })
    }

    await server.longestStall()
    t.diagnostic(`${((await server.peakMemory()) / mebibyte).toFixed(0)} MB at the start`)
    for (let round = 0; round < rounds; round++) {
      for (const [what, path, type, make, statuses] of bodies) {
        const packed = gzipSync(make(), { level: 1 })
        const begun = performance.now()
        const answers = await Promise.all(
          offices.map(({ id, agent }) => send(`locations/${id}/${path}`, agent, type, packed)),
        )
        for (const { status, text } of answers) assert.ok(statuses.includes(status), `${what}: ${status} ${text}`)
        const stall = await server.longestStall()
        t.diagnostic(
          `${path}, ${what}: ${answers.map(({ status }) => status)} in ${Math.round(performance.now() - begun)} ms, longest stall ${stall.toFixed(0)} ms, ${((await server.peakMemory()) / mebibyte).toFixed(0)} MB at most`,
        )
        assert.ok(stall < 250, `${what}: ${stall} ms`)
      }
      for (const body of [
        repeated('[', 4 * mebibyte - 10),
        `{"locations":[${repeated('{},', 4 * mebibyte - 100)}{}]}`,
      ]) {
        const packed = gzipSync(body)
        for (const { organizationId, agent } of offices) {
          assert.equal((await send(`organizations/${organizationId}/locations`, agent, json, packed)).status, 422)
        }
        assert.ok((await server.longestStall()) < 250)
      }
    }

    isOver = true
    await watch
    const p99 = health.sort((a, b) => a - b)[Math.floor(health.length * 0.99)] ?? 0
    const peak = (await server.peakMemory()) / mebibyte
    t.diagnostic(`/healthz ${health.length} times, p99 ${p99.toFixed(0)} ms; ${peak.toFixed(0)} MB at most`)
    assert.ok(peak < 400, `${peak} MB`)
  })
}
