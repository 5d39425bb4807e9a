import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createPractice, demoShape, livingPractice, simulatedDatasets } from '@bridgework/practice-simulator'
import { served, withoutNotes } from '../demo/testing/test-agent.ts'
import { spawnAgent, temporaryFolder, writeTestConfig } from '../testing/test-agent.ts'
import { startTestService } from '../testing/test-service.ts'
import { practiceIn, sqliteDatabase } from './testing/test-database.ts'

const rounds = 3
const killsPerRound = 3

/** A practice that lives in a database, and the agent as a process that reads it. */
async function someOffice(t: TestContext) {
  const server = await startTestService(t)
  const folder = temporaryFolder(t)
  const database = sqliteDatabase(t, folder)
  const locations = [8, 4].map((n) => ({ insurancePlans: n, feeSchedules: 2, patients: n }))
  const living = livingPractice(createPractice({ ...demoShape('sql kills'), locations, years: 0.2 }))
  const writer = practiceIn(database)
  const mapping = join(folder, 'mapping.json')
  const config = writeTestConfig(
    folder,
    server,
    { engine: 'sqlite', name: database.settings.name },
    {
      connector: 'sql',
      mapping,
      upload_lines_max: 20,
    },
  )
  return {
    server,
    living,
    write: async () => writeFileSync(mapping, JSON.stringify(await writer.write(living.practice, new Date()))),
    spawn: () => spawnAgent(['run', '--once', '--config', config]),
  }
}

test('an agent that is killed between and in its cycles, while the practice goes on, brings every record all the same', async (t) => {
  const { server, living, write, spawn } = await someOffice(t)
  await write()
  let kills = 0
  for (let round = 0; round < rounds; round++) {
    for (let kill = 0; kill < killsPerRound; kill++) {
      // Each process lives for some requests more than the one before, and dies before one takes effect or as its answer is on the way.
      const dies = { at: 1 + round + kill * 6, isAfter: (round + kill) % 2 === 0 }
      let heard = 0
      const agent = spawn()
      server.world.interference = ({ kind }) => {
        heard += 1
        if (heard !== dies.at) return undefined
        agent.process.kill('SIGKILL')
        return dies.isAfter || kind === 'heartbeats' ? 'cut_after_effect' : { status: 503, body: {} }
      }
      const { signal, code, stdout, stderr } = await agent.ended
      if (signal === 'SIGKILL') kills += 1
      else assert.equal(code, 0, stdout + stderr)
      for (let event = 0; event < 10; event++) living.moveOn()
      await write()
    }
    server.world.interference = undefined
    const { code, stdout, stderr } = await spawn().ended
    assert.equal(code, 0, stdout + stderr)
    await server.confirmRemovals()
    const visible = await served(server)
    for (const dataset of simulatedDatasets)
      for (const [location, records] of living.truth().get(dataset) ?? []) {
        const expected = withoutNotes(dataset, records)
        assert.deepEqual(
          visible(dataset, location, expected),
          expected,
          `${dataset} of location ${location}, round ${round}`,
        )
      }
  }
  assert.ok(kills >= (rounds * killsPerRound) / 2, `${kills} kills`)
  t.diagnostic(`${kills} kills`)
})
