import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { someClient } from '../../testing/test-client.ts'
import { fillTreatments } from '../../testing/test-volume.ts'

const run = promisify(execFile)

/** The soak sets it to a million, and then the rate counts as well: of a few pages it says nothing. */
const records = Number(process.env.BRIDGEWORK_TEST_RECORDS ?? 20_000)
const isMeasured = process.env.BRIDGEWORK_TEST_RECORDS !== undefined

test('a large dataset is pulled in little memory, at half the rate or more at which the service can send it', async (t) => {
  const { world, vendor, location } = await someClient(t)
  await fillTreatments(world, location, records)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-pull-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    HOME: folder,
    BRIDGEWORK_BASE_URL: world.url,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  const program = (...args: string[]) => run(process.execPath, args, { env })
  const command = await compiledCommand(folder)

  const list = `${world.url}/api/v1/vendors/locations/${location.id}/treatments`
  const discard = join(import.meta.dirname, '../testing/test-discard-process.ts')
  const discarded = async () => JSON.parse((await program(discard, list, await vendor.token())).stdout)
  const before = await discarded()
  const file = join(folder, 'treatments.ndjson')
  const { stdout, stderr } = await program(command, 'pull', 'treatments', '--output', file, '--json')
  // Before and after: what else the machine does, slows all of them.
  const after = await discarded()
  const seconds = (before.seconds + after.seconds) / 2

  const pulled = JSON.parse(stdout)
  const heldMb = Number(/held (\d+) MB/.exec(stderr)?.[1])
  t.diagnostic(
    `${records} records; thrown away in ${before.seconds.toFixed(2)} and ${after.seconds.toFixed(2)} s (${after.cpuSeconds.toFixed(2)} s of a core), pulled in ${pulled.seconds.toFixed(2)} s (${/cpu ([\d.]+)/.exec(stderr)?.[1]} s of a core), ${heldMb} MB held`,
  )
  assert.equal(pulled.records, records)
  let lines = 0
  for await (const part of createReadStream(file)) for (const byte of part) if (byte === 10) lines += 1
  assert.equal(lines, records)
  assert.ok(heldMb < 200, `${heldMb} MB`)
  if (isMeasured) assert.ok(pulled.seconds < 2 * seconds, `${pulled.seconds} s against ${seconds} s`)
})

/** The command as it is shipped, made to say at its end how much memory it ever held: run from its source, Node's type stripper would count as well. */
async function compiledCommand(folder: string): Promise<string> {
  const root = join(import.meta.dirname, '../../../../..')
  const dist = join(folder, 'dist')
  await run(join(root, 'node_modules/.bin/tsc'), [
    '-p',
    join(root, 'packages/client/tsconfig.build.json'),
    '--outDir',
    dist,
  ])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const program = join(folder, 'measured.js')
  writeFileSync(
    program,
    `process.on('exit', () => {
       const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
       process.stderr.write('held ' + Math.round(maxRSS / 1024) + ' MB, cpu ' + (userCPUTime + systemCPUTime) / 1e6)
     })
     await import('./dist/command/main.js')`,
  )
  return program
}
