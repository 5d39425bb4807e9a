import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { datasets, vendorApiPath } from '@bridgework/contract'
import { build } from 'esbuild'
import openapiTS, { astToString } from 'openapi-typescript'
import { freePort } from '../../../apps/server/src/testing/test-port.ts'
import { aRecord, someClient } from './testing/test-client.ts'
import { type Generator, otherGenerators, ownGenerators, programFiles } from './testing/test-generators.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, '../../../node_modules')
const tsc = join(modules, '.bin/tsc')
const resources = [
  'Patient',
  'Appointment',
  'InsurancePlan',
  'FeeSchedule',
  'Treatment',
  'LedgerTransaction',
  'PatientReferral',
  'Location',
  'Organization',
]

// The soak has installed the others into this folder, and this test is then theirs too.
const others = process.env.BRIDGEWORK_TEST_GENERATORS
const generators = Object.entries({ ...ownGenerators, ...(others && otherGenerators) })

for (const [name, generator] of generators) {
  test(`${name} generates from the OpenAPI document a client that compiles, walks a list, and reads a delta and an export`, async (t) => {
    const { world, vendor, location } = await someClient(t, { insurancePlans: 3 })
    const { text } = await world.request(`${vendorApiPath}/openapi.json`)
    const project = await generate(t, generator, text)
    const { watermark } = await someWatermark(world.url, await vendor.token(), location.id)
    await location.upload('insurance_plans', { p1: null })
    const env = {
      BASE: world.url + vendorApiPath,
      TOKEN: await vendor.token(),
      LOCATION: location.id,
      SINCE: watermark,
    }
    const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: project, env: { ...process.env, ...env } })

    const { walked, changed, named, exported } = JSON.parse(stdout)
    assert.equal(new Set(walked.map(({ id }: Plan) => id)).size, 3)
    assert.deepEqual(
      changed.map(({ attributes }: Plan) => [attributes.source_id, attributes.is_hidden]),
      [['p1', true]],
    )
    assert.deepEqual(
      named.map(({ attributes }: Plan) => Object.keys(attributes)),
      [['plan_name'], ['plan_name'], ['plan_name']],
    )
    const lines = exported
      .trimEnd()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    assert.deepEqual(lines.slice(0, -1), walked)
    assert.equal(lines.at(-1).meta.records, 3)
  })
}

/** A folder with the generated client and the program that calls it, compiled by tsc and bundled, as vendors' programs are. */
async function generate(t: TestContext, { command, config, calls }: Generator, document: string): Promise<string> {
  // Ours far from our node_modules: what is generated needs none of it.
  const project = mkdtempSync(join(others ?? tmpdir(), 'bridgework-generated-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  const files = {
    ...programFiles,
    'openapi.json': document,
    'calls.ts': calls,
    'tsconfig.json': JSON.stringify(tsconfig),
  }
  for (const [file, content] of [...Object.entries(files), ...(config ? [config] : [])])
    writeFileSync(join(project, file), content)
  const programs = [...(others ? [others] : []), join(import.meta.dirname, '..')].map((at) =>
    join(at, 'node_modules/.bin'),
  )
  const path = [...programs, process.env.PATH]
  const [program = '', ...args] = command.split(' ')
  await run(program, args, { cwd: project, env: { ...process.env, PATH: path.join(delimiter) } })
  await run(tsc, ['-p', project], { cwd: project }).catch(({ stdout }) => assert.fail(stdout))
  await build({
    absWorkingDir: project,
    entryPoints: ['main.ts'],
    outfile: join(project, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // What a CommonJS package in a bundle calls.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
  return project
}

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(modules, '@types')],
  },
  include: ['main.ts', 'generated', 'generated.ts'],
}

type Plan = { id: string; attributes: Record<string, unknown> }

test('openapi-typescript gives types that are called as the resources are, and that fit what the service answers', async (t) => {
  const { world, vendor, location } = await someClient(t)
  await location.upload('patients', { p1: aRecord('patients') })
  const project = mkdtempSync(join(tmpdir(), 'bridgework-generated-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  const { text } = await world.request('/api/v1/vendors/openapi.json')
  const ast = await openapiTS(text, { rootTypes: true, rootTypesNoSchemaPrefix: true })
  writeFileSync(join(project, 'schema.ts'), astToString(ast))
  const { body } = await vendor.get(`/locations/${location.id}/patients`)
  writeFileSync(
    join(project, 'program.ts'),
    `import type { ${resources.join(', ')}, Error, ErrorCode } from './schema.ts'
     type Named = [${resources.join(', ')}, Error, ErrorCode]
     export const patient: Patient = ${JSON.stringify(body.data[0])}
     export const code: ErrorCode = 'token_invalid'
     // @ts-expect-error a patient has no shoe size
     export const size = patient.attributes.shoe_size
     export type { Named }`,
  )
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--allowImportingTsExtensions', '--types', '']
  await run(tsc, [...options, 'program.ts'], { cwd: project })
})

async function someWatermark(url: string, token: string, locationId: string): Promise<{ watermark: string }> {
  const path = `/api/v1/vendors/locations/${locationId}/insurance_plans`
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  const { meta } = (await answer.json()) as { meta: { next_fetch_modified_since: string } }
  return { watermark: meta.next_fetch_modified_since }
}

if (others)
  test('a proxy that validates finds no answer that the document does not describe, and finds one that was planted', async (t) => {
    const { world, vendor, location } = await someClient(t, { insurancePlans: 3 })
    for (const { name } of datasets) await location.upload(name, { r1: aRecord(name), r2: aRecord(name), r3: null })
    const { text } = await world.request(`${vendorApiPath}/openapi.json`)
    const authorization = `Bearer ${await vendor.token()}`
    const path = `/locations/${location.id}`
    const lists = datasets.flatMap(({ name, type, attributes }) => {
      const [first = ''] = Object.keys(attributes.properties)
      const queries = ['?items=2', '?q[fetch_modified_since]=2026-01-31T08:05:00.000001Z', `?fields[${type}]=${first}`]
      return [...queries, '/1', `/1?fields[${type}]=${first}`, '/digest', '/export'].map(
        (rest) => `${path}/${name}${rest}`,
      )
    })
    const paths = ['/organizations', '/locations?items=1', path, `${path}/sync_status`, '/changes?items=50', ...lists]
    const violations = async (document: string) => {
      const proxy = await startProxy(t, document, world.url + vendorApiPath)
      const found = []
      for (const each of paths) {
        const answer = await fetch(proxy + each, { headers: { authorization } })
        await answer.text()
        const said = answer.headers.get('sl-violations')
        if (said !== null || answer.status !== 200) found.push(`${each}: ${answer.status} ${said}`)
      }
      return found
    }

    assert.deepEqual(await violations(text), [])
    const planted = text.replaceAll('"plan_name":{"', '"plan_name":{"minLength":400,"')
    assert.match((await violations(planted)).join(), /insurance_plans.*plan_name/)
  })

/** Prism before the service; its address. */
async function startProxy(t: TestContext, document: string, upstream: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-proxy-'))
  writeFileSync(join(folder, 'openapi.json'), document)
  const port = await freePort()
  const program = join(others ?? '', 'node_modules/@stoplight/prism-cli/dist/index.js')
  const child = spawn(process.execPath, [program, 'proxy', 'openapi.json', upstream, '--port', String(port)], {
    cwd: folder,
    stdio: 'ignore',
  })
  t.after(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(url)
      .then((answer) => answer.text())
      .then(
        () => true,
        () => false,
      )
  while (!(await isReady())) {
    assert.equal(child.exitCode, null)
    await sleep(100)
  }
  return url
}
