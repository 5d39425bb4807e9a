import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { enrolmentSystems } from './agent-commands.ts'

const given = { publicUrl: 'https://bridgework.example', code: 'bwe_1' }

test('each system gets the newest installer that the service hands out, and whole commands', () => {
  const systems = enrolmentSystems({
    ...given,
    packages: [
      'bridgework-agent-0.10.0-darwin-arm64.tar.gz',
      'bridgework-agent-0.10.0-darwin-x64.tar.gz',
      'bridgework-agent-0.10.0-win32-x64.msi',
      'bridgework-agent-0.9.0-win32-x64.msi',
      'bridgework-agent_0.10.0_amd64.deb',
      'bridgework-agent_0.9.0_amd64.deb',
      'bridgework-agent-0.10.0.tgz',
    ],
  })
  const [windows, macos, linux] = systems
  assert.deepEqual(
    windows?.downloads.map(({ url }) => url),
    ['https://bridgework.example/downloads/bridgework-agent-0.10.0-win32-x64.msi'],
  )
  const [install, setUp] = windows?.steps ?? []
  // A person's folder may have a space in its name.
  assert.match(install?.command ?? '', /-ArgumentList "\/i `"\$env:TEMP\\bridgework-agent\.msi`" \/qn"$/m)
  const definition = readFileSync(join(import.meta.dirname, '../../../../../../deploy/windows/agent.wxs'), 'utf8')
  const [, folder] =
    /<Directory Id="ProgramFiles64Folder">\s+<Directory Id="INSTALLFOLDER" Name="([^"]+)">/.exec(definition) ?? []
  assert.ok(setUp?.command.startsWith(`& "C:\\Program Files\\${folder}\\bridgework-agent.cmd" setup `))
  assert.deepEqual(
    macos?.downloads.map(({ label }) => label),
    ['For Apple’s processors', 'For Intel’s processors'],
  )
  assert.match(macos?.steps[0]?.command ?? '', /agent=bridgework-agent-0\.10\.0-darwin-\$\(uname -m/)
  assert.deepEqual(
    linux?.downloads.map(({ name }) => name),
    ['bridgework-agent_0.10.0_amd64.deb'],
  )
  assert.match(linux?.steps[0]?.command ?? '', /^sudo apt-get install -y "\/tmp\/\$agent"$/m)
  for (const { steps } of [windows, macos, linux].flatMap((each) => each ?? [])) {
    assert.match(steps.at(-1)?.command ?? '', /setup --server https:\/\/bridgework\.example --code bwe_1$/)
  }
})

test('without an installer npm installs the package of this service, and without that the operator’s file', () => {
  const [windows] = enrolmentSystems({ ...given, packages: ['bridgework-agent-0.2.0.tgz'] })
  assert.match(
    windows?.steps[0]?.command ?? '',
    /https:\/\/bridgework\.example\/downloads\/bridgework-agent-0\.2\.0\.tgz$/m,
  )
  assert.equal(windows?.downloads.length, 1)
  for (const { name, note, downloads, steps } of enrolmentSystems({ ...given, packages: [] }).slice(0, 3)) {
    assert.deepEqual(downloads, [], name)
    assert.match(note, /The operator of Bridgework gives you the file bridgework-agent-/)
    assert.match(steps[1]?.command ?? '', /enroll --server https:\/\/bridgework\.example --code bwe_1 /)
  }
})
