import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { completeSource, contractNumber, getDataset, sourceAt } from '@bridgework/contract'
import { contractHeader } from '@bridgework/contract/ingest'
import { readContract } from '@bridgework/contract/test-shapes'
import { Check } from 'typebox/value'
import { type Connector, type JsonValue, SourceProblem, type SourceRecord } from '../connector.ts'
import { runCycle } from './cycle.ts'
import { lineOf } from './line.ts'
import { someAgent } from './testing/test-cycle.ts'

const dataset = getDataset('patients')
/** The source of an agent of number 1. */
const older = () =>
  sourceAt(dataset, 1)({ ...dataset.example, guarantor_source_id: null }) as SourceRecord['attributes']

/** Of what came later it has at most a title. */
function patient(id: string, title: JsonValue): SourceRecord {
  return { source_id: id, attributes: { ...completeSource(dataset)(older()), title } as SourceRecord['attributes'] }
}

/** An agent with a patient who has a title and one who has none, at a service that says it knows this number of the contract. */
async function someOffice(t: TestContext) {
  const agent = await someAgent(t, { plans: 0 })
  for (const record of [patient('1', 'Dr.'), patient('2', null)])
    agent.source.content.patients.set(record.source_id, record)
  const cycle = async (contract?: number) => {
    const deps = agent.deps()
    const { heartbeat } = deps.client
    const client =
      contract === undefined
        ? deps.client
        : {
            ...deps.client,
            heartbeat: async (...said: Parameters<typeof heartbeat>) => ({ ...(await heartbeat(...said)), contract }),
          }
    const before = agent.server.requests.length
    const outcome = await runCycle({ ...deps, client, connector: { ...agent.source, datasets: ['patients'] } })
    assert.equal(outcome.result, 'complete')
    const sent = agent.server.requests.slice(before).filter(({ kind }) => kind === 'records')
    return sent.flatMap(({ body }) =>
      body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
  }
  const reasons = () => agent.named('dataset.reading').map(({ fully }) => fully)
  return { agent, cycle, reasons }
}

test('an agent leaves out what its service does not know, and sends it once the service knows it, of the records that have it', async (t) => {
  const { agent, cycle, reasons } = await someOffice(t)
  const schema = readContract(1).patients?.source
  assert.ok(schema)
  const first = await cycle(1)
  assert.deepEqual(
    first.map(({ source_id }) => source_id),
    ['1', '2'],
  )
  for (const { attributes } of first) assert.ok(Check(schema, attributes))
  assert.deepEqual(await cycle(1), [])

  assert.deepEqual(
    (await cycle()).map(({ source_id, attributes }) => [source_id, attributes.title]),
    [['1', 'Dr.']],
  )
  assert.deepEqual(await cycle(), [])
  assert.deepEqual(reasons(), ['first_read', null, 'contract_changed', null])
  assert.equal(agent.server.requests.at(-1)?.headers[contractHeader.toLowerCase()], String(contractNumber))
})

test('where an export file is wrong is told to a service that knows such places, and to an older one only that it is', async (t) => {
  const agent = await someAgent(t, { plans: 0 })
  const filePlace = { file: 'patients.csv', line: 2, column: null }
  const problem = new SourceProblem('file_invalid', 'It cannot be read.', 'Correct it.', { filePlace })
  const connector: Connector = {
    ...agent.source,
    datasets: ['patients'],
    beginCycle: async () => ({ ...(await agent.source.beginCycle()), problemOf: async () => problem }),
  }
  const said = async (contract: number) => {
    const deps = agent.deps()
    const { heartbeat } = deps.client
    const client = {
      ...deps.client,
      heartbeat: async (...beat: Parameters<typeof heartbeat>) => ({ ...(await heartbeat(...beat)), contract }),
    }
    await runCycle({ ...deps, client, connector })
    return agent.server.heartbeats().at(-1)?.problems
  }
  assert.deepEqual(await said(1), [{ code: 'file_invalid', dataset: 'patients' }])
  assert.deepEqual(await said(2), [
    { code: 'file_invalid', dataset: 'patients', file: { name: 'patients.csv', line: 2 } },
  ])
})

test('a service that went back to an earlier number gets what it takes', async (t) => {
  const { cycle } = await someOffice(t)
  await cycle()
  assert.deepEqual(
    (await cycle(1)).map(({ source_id, attributes }) => [source_id, 'title' in attributes]),
    [['1', false]],
  )
  assert.deepEqual((await cycle()).length, 1)
})

test('a record without what came later is the same line, with the same hashes, for every number of the contract', () => {
  const [one, two] = [1, contractNumber].map((number) => lineOf('patients', patient('1', null), number))
  assert.deepEqual(one, two)
  assert.deepEqual(lineOf('patients', { source_id: '1', attributes: older() }), two)
  assert.notEqual(lineOf('patients', patient('1', 'Dr.')).hash, two?.hash)
  assert.equal(lineOf('patients', patient('1', 'Dr.'), 1).hash, two?.hash)
  // A service of tomorrow takes what this agent knows.
  assert.deepEqual(lineOf('patients', patient('1', 'Dr.'), contractNumber + 1), lineOf('patients', patient('1', 'Dr.')))
})
