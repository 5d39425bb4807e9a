import assert from 'node:assert/strict'
import { METHODS, request } from 'node:http'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { aRecord, someWorld, type TestWorld, toNdjson } from '../testing/test-world.ts'

/** Series that a scrape may have: what routes can answer, and what they refuse. */
const seriesMax = 10_000

test('the number of series is bounded: other tenants, paths, methods and versions add none', async (t) => {
  const world = await someWorld(t)
  const paths = await everyPath(world)
  assert.ok(paths.length > 150, `only ${paths.length} paths were found`)
  await useAndAttack(world, paths, 1)
  const before = await seriesOf(world)
  for (const wave of [2, 3]) await useAndAttack(world, paths, wave)
  const after = await seriesOf(world)
  assert.deepEqual([...after.difference(before)], [])
  assert.ok(after.size < seriesMax, `${after.size} series`)
  t.diagnostic(`${after.size} series of ${paths.length} paths`)
})

/** New tenants that do everything, and callers who ask every path with every method and names of their own. */
async function useAndAttack(world: TestWorld, paths: readonly string[], wave: number): Promise<void> {
  for (let tenant = 0; tenant < 3; tenant += 1) {
    const location = await world.addLocation()
    const vendor = await world.addVendor([location])
    for (const dataset of datasetNames) {
      await location.upload(dataset, { one: aRecord(dataset) })
      const list = `/locations/${location.id}/${dataset}`
      await vendor.get(list, { 'user-agent': `client ${wave}.${tenant}` })
      await vendor.get(`${list}?items=${wave}x`)
      await vendor.get(`${list}/${wave}9`)
    }
    const headers = {
      authorization: `Bearer ${location.agent.agentKey}`,
      'user-agent': `bridgework-agent/${wave}.${tenant}.0`,
    }
    await world.request('/ingest/v1/agents/self', { headers })
    const lines = toNdjson({ one: aRecord('patients') })
    await world.send(location.agent, location.id, `dataset${wave}`, 1, lines)
  }
  for (const path of paths) {
    const asked = path.replaceAll(/:\w+/g, `${wave}7`).replace('*', `file-${wave}`)
    for (const method of METHODS) if (method !== 'CONNECT') await ask(world, method, asked)
  }
  for (let index = 0; index < 50; index += 1) {
    const name = `${wave}-${index}`
    for (const path of [`/${name}`, `/portal/api/${name}`, `/api/v1/vendors/${name}?${name}`, `/ingest/v1/${name}/%zz`])
      await ask(world, index % 2 === 0 ? 'GET' : 'POST', path)
  }
}

/** The patterns of all routes, from the router's tree. */
async function everyPath({ app }: TestWorld): Promise<string[]> {
  const parts: string[] = []
  const found: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part, methods] = /^([│\s]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line) ?? []
    if (part === undefined) continue
    parts.splice(indent.length / 4, Number.POSITIVE_INFINITY, part)
    if (methods !== undefined) found.push(parts.join(''))
  }
  return found
}

function ask({ url }: TestWorld, method: string, path: string): Promise<void> {
  return new Promise((resolve) => {
    const asked = request(`${url}${path}`, { method, headers: { authorization: 'Bearer of nobody' } }, (response) => {
      response.resume().once('close', resolve)
    })
    asked.once('error', () => resolve()).end()
  })
}

/** Every series of the service, without its value. */
async function seriesOf({ request }: TestWorld): Promise<Set<string>> {
  const { text } = await request('/metrics')
  return new Set(text.match(/^bridgework_\S*?(?:\{.*\})?(?= )/gm))
}
