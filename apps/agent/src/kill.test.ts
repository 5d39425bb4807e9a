import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type TestPractice, testPractice } from './open-dental/testing/test-practice.ts'
import { spawnAgent, temporaryFolder, writeTestConfig } from './testing/test-agent.ts'
import { startTestService, type TestService } from './testing/test-service.ts'

const mariaDb = await startTestMariaDb({ after })
const plans = 1500
const killsPerRound = 15

test('an agent killed at any moment, again and again, loses nothing and doubles nothing', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const random = mulberry32(seed)
  const server = await startTestService(t)
  const victim: Victim = { kill: () => {} }
  server.world.interference = ({ kind }) => {
    const chance = random()
    // Around each request lies every moment that matters: before it takes effect, after, and while the answer is kept.
    if (random() < 0.12) setTimeout(() => victim.kill(), random() * 25)
    if (kind === 'records' && chance < 0.05) return 'cut_after_effect'
    return { delayMs: chance * 15 }
  }
  const practice = await testPractice(mariaDb)
  await practice.execute(
    `insert into insplan (PlanNum, GroupName, CarrierNum) select seq, concat('Plan ', seq), 1 from seq_10_to_${plans + 9}`,
  )
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings, { upload_lines_max: 40 })

  let kills = await runKilling(config, victim)
  const perLocation = plans + 3 + 2
  assert.partialDeepStrictEqual(await server.counts(), {
    inserted: 2 * perLocation,
    changed: 0,
    unchanged: 0,
    hidden: 0,
  })
  await assertSame(practice, server)

  await practice.execute(
    "update insplan set GroupName = concat(GroupName, ' renamed') where PlanNum between 100 and 899",
  )
  await practice.execute('delete from insplan where PlanNum between 1000 and 1099')
  await practice.insert('insplan', { PlanNum: '9223372036854775807', GroupName: 'The last' })
  kills += await runKilling(config, victim)
  assert.partialDeepStrictEqual(await server.counts(), {
    inserted: 2 * perLocation + 2,
    changed: 1600,
    unchanged: 0,
    hidden: 200,
  })
  await assertSame(practice, server)
  t.diagnostic(`${kills} kills`)
})

type Victim = { kill: () => void }

/** Runs the agent while the victim is being killed, as often as said or until a pass is finished; then lets it finish. */
async function runKilling(config: string, victim: Victim): Promise<number> {
  let kills = 0
  while (kills < killsPerRound) {
    const agent = spawnAgent(['run', '--once', '--config', config])
    victim.kill = () => agent.process.kill('SIGKILL')
    const { signal, code, stdout, stderr } = await agent.ended
    if (signal !== 'SIGKILL') {
      assert.equal(code, 0, stdout + stderr)
      break
    }
    kills += 1
  }
  victim.kill = () => {}
  const last = await spawnAgent(['run', '--once', '--config', config]).ended
  assert.equal(last.code, 0, last.stdout + last.stderr)
  return kills
}

async function assertSame(practice: TestPractice, server: TestService): Promise<void> {
  const rows = await practice.execute('select PlanNum, GroupName from insplan')
  const expected = new Map(rows.map((row) => [String(row.PlanNum), row.GroupName || 'Acme Works']))
  for (const location of ['1', '2']) {
    const visible = await server.visible(location, 'insurance_plans')
    assert.equal(visible.size, expected.size)
    for (const [id, plan] of visible) assert.equal(plan.plan_name, expected.get(id))
  }
}

/** A small random source that a printed seed repeats. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
