import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { aPlan, aRecord, aSchedule, someClient } from './testing/test-client.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../../../node_modules')
const client = join(import.meta.dirname, 'index.ts')

type Operation = { operationId: string; 'x-codeSamples': { lang: string; source: string }[] }
type Sample = { operationId: string; source: string }

/** The samples of one language, and the environment in which they are the vendor's. */
async function someSamples(t: TestContext, lang: string) {
  const { world, vendor, location } = await someClient(t)
  await location.upload('fee_schedules', { s1: aSchedule() })
  await location.upload('insurance_plans', { p1: aPlan() })
  for (const name of ['patients', 'appointments', 'treatments', 'ledger_transactions', 'patient_referrals'])
    await location.upload(name, { r1: aRecord(name) })
  const { body } = await world.request('/api/v1/vendors/openapi.json')
  const paths = Object.entries(body.paths as Record<string, Record<string, Operation>>)
  const samples = paths.flatMap(([path, item]) =>
    Object.values(item).map((operation) => ({
      path,
      operationId: operation.operationId,
      ...sampleOf(operation, lang),
    })),
  )
  const env = {
    ...process.env,
    BRIDGEWORK_BASE_URL: `${world.url}/api/v1/vendors`,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
    BRIDGEWORK_TOKEN: await vendor.token(),
    LOCATION_ID: location.id,
    ORGANIZATION_ID: location.organizationId,
  }
  /** The one record of the dataset in a path. */
  const recordOf = async (path: string) => {
    const list = path.replace('/{id}', '').replace('{location_id}', location.id)
    return path.includes('{id}') ? ((await vendor.get(list)).body.data[0]?.id ?? '') : ''
  }
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-samples-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return { samples, env, folder, recordOf }
}

function sampleOf(operation: Operation, lang: string): { source: string } {
  const source = operation['x-codeSamples'].find((sample) => sample.lang === lang)?.source
  assert.ok(source, `${operation.operationId} has a sample in ${lang}`)
  return { source }
}

test('every code sample in curl gets a 200', async (t) => {
  const { samples, env, folder, recordOf } = await someSamples(t, 'Shell')
  assert.ok(samples.length > 25)
  for (const { path, operationId, source } of samples) {
    const script = `${source} --silent --show-error --write-out '%{stderr}%{http_code}'`
    const { stdout, stderr } = await run('sh', ['-c', script], {
      cwd: folder,
      env: { ...env, RECORD_ID: await recordOf(path) },
    })
    assert.equal(stderr, '200', `${operationId}: ${stdout}`)
    // Of an export, the last line.
    const { data, token, meta } = JSON.parse(
      operationId.endsWith('_export') ? (stdout.trim().split('\n').at(-1) ?? '') : stdout,
    )
    if (operationId.endsWith('_export')) {
      assert.ok(meta.records > 0, operationId)
      continue
    }
    assert.ok(token ?? (Array.isArray(data) ? data.length > 0 : data.id), operationId)
  }
})

test('every code sample in TypeScript compiles, and one of each kind runs', async (t) => {
  const { samples, env, folder, recordOf } = await someSamples(t, 'TypeScript')
  for (const { operationId, source } of samples) writeFileSync(join(folder, `${operationId}.ts`), source)
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', strict: true, noEmit: true, allowImportingTsExtensions: true },
    ...{ types: ['node'], typeRoots: [join(modules, '@types')], skipLibCheck: true },
    paths: { '@bridgework/client': [client] },
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await run(join(modules, '.bin/tsc'), ['-p', folder], { cwd: folder })

  // Each is a process with a token of its own, and an address has ten a minute.
  const kinds = ['auth_token_create', 'locations_list', 'organizations_get', 'locations_sync_status_get']
  const ofPlans = ['list', 'get', 'digest', 'export'].map((each) => `locations_resources_insurance_plans_${each}`)
  for (const { path, operationId, source } of samples.filter((each) =>
    [...kinds, ...ofPlans].includes(each.operationId),
  )) {
    const file = join(folder, `${operationId}.run.ts`)
    writeFileSync(file, source.replace("'@bridgework/client'", JSON.stringify(pathToFileURL(client).href)))
    const { stdout } = await run(process.execPath, [file], {
      cwd: folder,
      env: { ...env, RECORD_ID: await recordOf(path) },
    })
    assert.ok(stdout !== '' || operationId === 'auth_token_create', operationId)
  }
})

test('every code sample in Python runs, with a stand-in where the package requests is not installed', async (t) => {
  const { samples, env, folder, recordOf } = await someSamples(t, 'Python')
  const listed: (Sample & { record: string })[] = []
  for (const { path, ...sample } of samples) listed.push({ ...sample, record: await recordOf(path) })
  writeFileSync(join(folder, 'samples.json'), JSON.stringify(listed))
  const program = `
import importlib.util, json, os, sys
if importlib.util.find_spec("requests") is None:
    spec = importlib.util.spec_from_file_location("requests", os.environ["STAND_IN"])
    sys.modules["requests"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["requests"])
for sample in json.load(open("samples.json")):
    os.environ["RECORD_ID"] = sample["record"]
    code = compile(sample["source"], sample["operationId"], "exec")
    print("sample", sample["operationId"])
    exec(code, {})
`
  const STAND_IN = join(import.meta.dirname, 'test-requests.py')
  const { stdout } = await run('python3', ['-c', program], { cwd: folder, env: { ...env, STAND_IN } })
  const [, ...outputs] = stdout.split(/^sample .*\n/m)
  assert.equal(outputs.length, samples.length)
  assert.ok(
    outputs.every((output) => output.trim() !== ''),
    stdout,
  )
})
