import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { someWorld } from '../../testing/test-world.ts'
import { listAgentPackages } from './downloads.ts'

test('the packages of client and agent and the operator’s installers are handed out with their hashes, and nothing else', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'bridgework-downloads-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const sum = 'a'.repeat(64)
  const deb = 'bridgework-agent_0.2.0_amd64.deb'
  for (const name of [deb, 'bridgework-server_0.2.0_amd64.deb', 'notes.txt', '.secret']) {
    writeFileSync(join(dir, name), `bytes of ${name}`)
  }
  writeFileSync(join(dir, 'SHA256SUMS'), `${sum}  ${deb}\n${sum}  bridgework-server_0.2.0_amd64.deb\n`)
  const world = await someWorld(t, { downloadsDir: dir })

  const { text } = await world.request('/downloads/SHA256SUMS')
  const names = text.split('\n').flatMap((line) => line.split('  ')[1] ?? [])
  assert.deepEqual(
    names.map((name) => name.replace(/\d+\.\d+\.\d+/, 'V')),
    ['bridgework-client-V.tgz', 'bridgework-agent-V.tgz', 'bridgework-mcp-V.tgz', 'bridgework-agent_V_amd64.deb'],
  )
  for (const name of names) assert.equal((await world.request(`/downloads/${name}`)).status, 200, name)
  for (const name of ['bridgework-server_0.2.0_amd64.deb', 'notes.txt', '.secret', '.sources', '..%2fservice.ts']) {
    const { status, body } = await world.request(`/downloads/${name}`)
    assert.deepEqual([status, body.code], [404, 'route_unknown'], name)
  }
  // The address that the guides name, without a version.
  for (const [address, name] of [
    ['bridgework-client.tgz', names[0]],
    ['bridgework-mcp.tgz', names[2]],
  ]) {
    const { status, headers } = await world.request(`/downloads/${address}`, { redirect: 'manual' })
    assert.deepEqual([status, headers.get('location')], [302, `/downloads/${name}`])
  }
  assert.deepEqual(await listAgentPackages([dir, join(dir, 'gone')]), [deb])
})
