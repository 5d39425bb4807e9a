import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseCommandLine } from '../../apps/agent/src/command-line.ts'
import { windowsService } from '../../apps/agent/src/setup/windows-service.ts'
import { packForWindows, serviceHost, switches } from './windows-installer.ts'

const definition = join(import.meta.dirname, '../../deploy/windows')
const source = readFileSync(join(definition, 'service-host.c'), 'utf8')

test('the installer for Windows holds every file and the service, and has the same bytes each time', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-msi-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const msi = installerIn(join(folder, 'one'), 1_000_000, '0.2.0')
  const zone = process.env.TZ
  process.env.TZ = 'Asia/Tokyo'
  t.after(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  assert.deepEqual(readFileSync(msi), readFileSync(installerIn(join(folder, 'two'), 2_000_000, '0.2.0')))

  assert.deepEqual(
    columnOf(msi, 'File', 2).toSorted(),
    ['LICENSE', serviceHost, 'node.exe', 'bridgework-agent.js', 'launcher.mjs'].toSorted(),
  )
  const [service = ''] = rowsOf(msi, 'ServiceInstall')
  // Started with Windows, under an account of its own that has no password.
  assert.match(
    service,
    /^Service\tBridgeworkAgent\tBridgework agent\t16\t2\t1\t+NT SERVICE\\BridgeworkAgent\t\tservice\t/,
  )
  const property = Object.fromEntries(rowsOf(msi, 'Property').map((row) => row.split('\t')))
  assert.equal(property.ProductVersion, '0.2.0')
  assert.equal(property.MsiHiddenProperties, 'CODE')
  for (const name of Object.keys(switches)) assert.ok(property.SecureCustomProperties?.split(';').includes(name), name)

  // Another version replaces it: the same family, another product.
  const later = installerIn(join(folder, 'later'), 1_000_000, '0.3.0')
  const ofLater = Object.fromEntries(rowsOf(later, 'Property').map((row) => row.split('\t')))
  assert.equal(ofLater.UpgradeCode, property.UpgradeCode)
  assert.notEqual(ofLater.ProductCode, property.ProductCode)
  assert.deepEqual(columnOf(later, 'Component', 1), columnOf(msi, 'Component', 1), 'a file keeps its component')
  const [family, lowest, highest] = rowsOf(msi, 'Upgrade')[0]?.split('\t') ?? []
  // Wine compares versions as signed numbers: above 127 it would find no other version.
  assert.deepEqual([family, lowest, highest], [property.UpgradeCode, '0.0.0', '127.255.65535'])

  const at = Object.fromEntries(
    rowsOf(msi, 'InstallExecuteSequence').map((row) => [row.split('\t')[0], Number(row.split('\t')[2])]),
  )
  const inOrder = [
    ['InstallInitialize', 'RemoveExistingProducts', 'ProcessComponents'],
    ['DeleteServices', 'RemoveKeepingData', 'RemoveWithData', 'RemoveFiles', 'InstallFiles'],
    ['InstallServices', 'Configure', 'Enrol', 'InstallFinalize', 'OpenSetup'],
  ]
  for (const names of inOrder)
    assert.deepEqual(
      names.map((name) => at[name]).toSorted(byNumber),
      names.map((name) => at[name]),
    )
})

test('each switch of a silent installation is an option of setup, and none can hold a password', () => {
  for (const option of Object.values(switches)) {
    const line = parseCommandLine(['setup', `--${option}`, 'value'])
    assert.ok('options' in line && line.options.get(option) === 'value')
  }
  assert.deepEqual(
    Object.keys(switches).filter((name) => name.includes('PASSWORD') && !name.endsWith('_FILE')),
    [],
  )
})

test('the service’s account is the one whose rights the data folder has', () => {
  assert.ok(source.includes(`#define SERVICE L"${windowsService}"`))
  // Windows makes the account's number of the name, in capitals.
  const hash = createHash('sha1').update(Buffer.from(windowsService.toUpperCase(), 'utf16le')).digest()
  const sid = `S-1-5-80-${[0, 4, 8, 12, 16].map((offset) => hash.readUInt32LE(offset)).join('-')}`
  assert.ok(source.includes(`#define SERVICE_SID L"${sid}"`))
  // Without the rights of the folder above: these three accounts alone.
  assert.ok(source.includes('L"D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"'))
  assert.ok(source.includes('L"(A;OICI;0x1301bf;;;" SERVICE_SID L")"'))
})

/** An installer of a small folder, whose files were written at this time. */
function installerIn(folder: string, atSeconds: number, version: string): string {
  const tree = join(folder, 'tree')
  for (const name of ['LICENSE', serviceHost, 'node/node.exe', 'program/bridgework-agent.js', 'program/launcher.mjs']) {
    mkdirSync(dirname(join(tree, name)), { recursive: true })
    writeFileSync(join(tree, name), `content of ${name}`)
    utimesSync(join(tree, name), atSeconds, atSeconds)
  }
  for (const name of ['work', 'made']) mkdirSync(join(folder, name))
  const madeAt = new Date('2026-01-02T03:04:05Z')
  const to = join(folder, 'made')
  return join(to, packForWindows({ definition, tree, folder: join(folder, 'work'), to, version, madeAt }))
}

function rowsOf(msi: string, table: string): string[] {
  const { stdout } = spawnSync('msiinfo', ['export', msi, table], { encoding: 'utf8' })
  return stdout.replace(/\r\n$/, '').split('\r\n').slice(3)
}

/** A column of a table, without the short name before a long one. */
function columnOf(msi: string, table: string, column: number): string[] {
  return rowsOf(msi, table).map((row) => (row.split('\t')[column] ?? '').replace(/^.*\|/, ''))
}

function byNumber(a: number | undefined, b: number | undefined): number {
  return Number(a) - Number(b)
}
