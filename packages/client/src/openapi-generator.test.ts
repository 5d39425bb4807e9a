import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import { aRecord, someClient } from './testing/test-client.ts'

const run = promisify(execFile)
const tsc = join(import.meta.dirname, '../../../node_modules/.bin/tsc')
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

test('the OpenAPI document generates a client that reads a page and a delta', async (t) => {
  const { world, vendor, location } = await someClient(t, { insurancePlans: 3 })
  // Far from our node_modules: what is generated needs none of it.
  const project = mkdtempSync(join(tmpdir(), 'bridgework-generated-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  const document = await world.request('/api/v1/vendors/openapi.json')
  writeFileSync(join(project, 'openapi.json'), document.text)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const config = {
    input: './openapi.json',
    output: { path: './generated', importFileExtension: '.ts' },
    logs: { file: false },
  }
  writeFileSync(join(project, 'openapi-ts.config.mjs'), `export default ${JSON.stringify(config)}`)
  const generator = dirname(createRequire(import.meta.url).resolve('@hey-api/openapi-ts/package.json'))
  await run(process.execPath, [join(generator, 'bin/run.js')], { cwd: project })
  const types = readFileSync(join(project, 'generated/types.gen.ts'), 'utf8')
  for (const name of resources) assert.match(types, new RegExp(`^export type ${name} = \\{`, 'm'))

  const { watermark } = await someWatermark(world.url, await vendor.token(), location.id)
  await location.upload('insurance_plans', { p1: null })
  writeFileSync(
    join(project, 'program.ts'),
    `import { client } from './generated/client.gen.ts'
     import * as sdk from './generated/sdk.gen.ts'
     const { BASE: baseUrl, TOKEN: token, LOCATION: location_id, SINCE: fetch_modified_since } = process.env
     client.setConfig({ baseUrl, auth: () => token })
     const page = await sdk.locationsResourcesInsurancePlansList({ path: { location_id }, query: { items: 2 } })
     const delta = await sdk.locationsResourcesInsurancePlansList({ path: { location_id }, query: { q: { fetch_modified_since } } })
     console.log(JSON.stringify([page.data, delta.data]))`,
  )
  const { stdout } = await run(process.execPath, ['program.ts'], {
    cwd: project,
    env: {
      ...process.env,
      BASE: `${world.url}/api/v1/vendors`,
      TOKEN: await vendor.token(),
      LOCATION: location.id,
      SINCE: watermark,
    },
  })

  const [page, delta] = JSON.parse(stdout)
  assert.deepEqual([page.data.length, page.pagy.total], [2, 3])
  assert.deepEqual(
    delta.data.map(({ attributes }: { attributes: object }) => attributes),
    [{ ...delta.data[0].attributes, source_id: 'p1', is_hidden: true }],
  )
})

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
