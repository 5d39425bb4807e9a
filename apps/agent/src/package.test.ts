import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { testPractice } from './open-dental/testing/test-practice.ts'
import { runAgentCommand, temporaryFolder, writeTestConfig } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'
import { agentVersion, nodeVersionMin } from './version.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)
const mariaDb = await startTestMariaDb({ after })

describe('the package', () => {
  const folder = temporaryFolder({ after })
  const installed = join(folder, 'empty')
  const command = join(installed, 'node_modules', '@bridgework', 'agent', 'bin', 'bridgework-agent.js')

  before(async () => {
    await run('npm', ['pack', '-w', 'apps/agent', '--pack-destination', folder, '--silent'], { cwd: root })
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? 'no tarball'
    await run('npm', [
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      '--cache',
      join(folder, 'cache'),
      '--prefix',
      installed,
      join(folder, tarball),
    ])
  })

  test('installs on an empty computer without fetching anything, and says what it can do', async () => {
    assert.deepEqual(
      readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['@bridgework'],
    )
    assert.ok(existsSync(join(installed, 'node_modules', '.bin', 'bridgework-agent')))
    const help = await runAgentCommand(['--help'], { main: command, cwd: installed })
    assert.equal(help.code, 0, help.stderr)
    assert.match(help.stdout, /Start with: bridgework-agent setup/)
    assert.equal((await runAgentCommand(['--version'], { main: command })).stdout.trim(), agentVersion)
  })

  test('brings the systemd unit and the licences of what is bundled, and none of our sources', () => {
    const here = join(installed, 'node_modules', '@bridgework', 'agent')
    assert.deepEqual(readdirSync(here).sort(), ['bin', 'dist', 'package.json', 'systemd'])
    assert.match(readFileSync(join(here, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8'), /mysql2 \d/)
    assert.match(
      readFileSync(join(here, 'systemd', 'bridgework-agent.service'), 'utf8'),
      /RestartPreventExitStatus=2 3/,
    )
  })

  test('brings a practice to the server', async (t) => {
    const server = await startTestService(t)
    const practice = await testPractice(mariaDb)
    const config = writeTestConfig(temporaryFolder(t), server, practice.settings)
    const ended = await runAgentCommand(['run', '--once', '--config', config], { main: command, cwd: installed })
    assert.equal(ended.code, 0, ended.stdout + ended.stderr)
    assert.equal((await server.visible('1', 'insurance_plans')).size, 3)
  })

  test('says on an old Node that it needs a newer one', async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.12.0' } })"
    const ended = await run(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(older)}`,
      command,
      '--help',
    ]).catch((error: { code: number; stderr: string }) => error)
    assert.equal('code' in ended && ended.code, 2)
    assert.match(ended.stderr, /needs Node\.js 22\.13 or newer; this is 22\.12\.0/)
  })
})

test('the version and the oldest Node are the same wherever they are written', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'apps', 'agent', 'package.json'), 'utf8'))
  assert.equal(manifest.version, agentVersion)
  assert.equal(manifest.engines.node, `>=${nodeVersionMin}`)
  assert.equal(manifest.dependencies, undefined)
})
