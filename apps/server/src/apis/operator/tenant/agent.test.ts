import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enrollAgent } from '../../../modules/agents/agent-key.ts'
import { replaceProblems } from '../../../modules/agents/heartbeat.ts'
import { secretKey, someOperator } from '../testing/test-operator.ts'

test('the list of agents says what each one reports, with its table and datasets, since when and what to do', async (t) => {
  const { pool, run, ask } = await someOperator(t)
  const organization = await ask('organization', 'create', '--name', 'Smile Group')
  const { enrolment_code: code } = await ask('agent', 'enroll', '--organization', organization.id)
  const { agentId } = await enrollAgent(pool, secretKey, { code })
  const reported = (['patients', 'treatments'] as const).map((dataset) => {
    return { code: 'table_damaged' as const, dataset, table: 'procedurelog' }
  })
  const since = new Date('2026-11-20T12:00:00Z')
  await replaceProblems(pool, agentId, { reported, observed: ['disk_low'] }, since)

  const [{ problems }] = await ask('agent', 'list')
  assert.deepEqual(
    problems.map((problem: { code: string; what: string; todo: string }) => [problem.code, problem.what]),
    [
      ['disk_low', 'The disk of the agent’s computer has less than 500 MB left.'],
      ['table_damaged', 'The table procedurelog of the database is damaged.'],
    ],
  )
  assert.match(problems[1].todo, /^Repair it: /)
  const { out } = await run('agent', 'list')
  assert.match(
    out,
    /disk_low since 2026-11-20 12:00 UTC; table_damaged procedurelog \(patients, treatments\) since 2026-/,
  )
})
