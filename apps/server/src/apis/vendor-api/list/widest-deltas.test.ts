import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { smallDeltaMax } from '../../../modules/disclosure/small-read.ts'
import { startCommand } from '../../../testing/test-start-command.ts'
import { aRecord, someWorld } from '../../../testing/test-world.ts'
import { startServerProcess } from '../testing/test-server.ts'

test('as many deltas of the widest notes as are in progress at one time are served, and are not all in memory at once', async (t) => {
  const secret = randomBytes(32)
  const world = await someWorld(t, { secretKey: createSecretKey(secret) })
  const location = await world.addLocation()
  const vendors = [await world.addVendor([location]), await world.addVendor([location])]
  const appointments = `/locations/${location.id}/appointments`
  for (const vendor of vendors) {
    await world.grant(vendor.companyId, location, ['appointments'], { notes: true })
    await vendor.get(appointments)
  }
  const since = new Date(Date.now() - 60_000).toISOString()
  // Three bytes for each character that the contract allows. An upload holds some hundred of them.
  const keys = Array.from({ length: smallDeltaMax }, (_, index) => `a${index}`)
  const wide = aRecord('appointments', { note: '歯'.repeat(20_000) })
  const upload = await location.upload('appointments', Object.fromEntries(keys.map((key) => [key, wide])))
  assert.equal(upload.status, 200, upload.text)

  const server = await startServerProcess(t, world, secret, { start: startCommand() })
  const tokens = await Promise.all(vendors.map((vendor) => vendor.token()))
  const url = `${server.url}${vendorApiPath}${appointments}?items=5000&q[fetch_modified_since]=${since}`
  const ask = async (token: string) => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' } })
    return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength }
  }
  const one = await ask(tokens[0] ?? '')
  const before = await server.peakMemory()
  // 32 of each company, which are all that are in progress in a process.
  const answers = await Promise.all(tokens.flatMap((token) => Array.from({ length: 32 }, () => ask(token))))
  const growth = (await server.peakMemory()) - before

  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0)
  const megabytes = (value: number) => `${Math.round(value / 2 ** 20)} MB`
  t.diagnostic(`64 answers of ${megabytes(bytes)} in all, memory grew by ${megabytes(growth)}`)
  assert.ok(one.bytes > smallDeltaMax * 60_000)
  for (const answer of answers) assert.deepEqual(answer, one)
  assert.ok(growth < bytes, `${megabytes(growth)} for ${megabytes(bytes)}`)
})
