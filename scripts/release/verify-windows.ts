import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { testPractice } from '../../apps/agent/src/open-dental/testing/test-practice.ts'
import { openDentalSettings } from '../../apps/agent/src/setup/testing/test-open-dental.ts'
import type { AgentStatus } from '../../apps/agent/src/status/status.ts'
import { freePort } from '../../apps/server/src/testing/test-port.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { startTestMariaDb } from '../../packages/practice-simulator/src/open-dental/testing/test-mariadb.ts'
import { expectAnswer, note, run, startProxy } from './try-out.ts'
import type { Service } from './verify-agent.ts'
import { compileServiceHost, lacksForWindows, packForWindows, serviceHost } from './windows-installer.ts'
import { startWine, type Wine } from './wine.ts'

const definition = join(import.meta.dirname, '../../deploy/windows')
const dataFolder = 'ProgramData/Bridgework/Agent'

/**
 * Installs the agent's Windows installer without a person under Wine, lets it read a practice in MariaDB over TCP, kills it, updates it, goes
 * back to the version before, has an update fail, and uninstalls it.
 */
export async function verifyWindowsInstaller({ release, folder, serviceUrl, operator }: Service): Promise<void> {
  const msi = join(release, `bridgework-agent-${releaseVersion}-win32-x64.msi`)
  if (!existsSync(msi))
    return note('Windows', 'not tried: the machine that made the release could not make an installer')
  const lacks = lacksForWindows()
  if (lacks !== null) return note('Windows', `not tried: this machine lacks ${lacks}`)
  const cleanups: (() => Promise<void> | void)[] = []
  const scope = { after: (work: () => Promise<void> | void) => void cleanups.unshift(work) }
  try {
    const wine = await startWine(scope)
    if (wine === null) return
    const before = filesOf(wine)
    const port = await freePort()
    const mariaDb = await startTestMariaDb(scope, { port })
    await mariaDb.execute(
      "create user admin@'%' identified by 'may all'; grant all on *.* to admin@'%' with grant option",
    )
    const practice = await testPractice(mariaDb)
    placeOpenDental(wine, openDentalSettings({ host: `127.0.0.1:${port}`, name: practice.name }))
    const statusPort = await freePort()
    const office: Office = { wine, statusUrl: `http://127.0.0.1:${statusPort}/status.json` }

    const place = ['--time-zone', 'America/New_York', '--country', 'US']
    const created = operator(['organization', 'create', '--name', 'Windows Test', ...place, '--json'])
    const organization = /"id": ?"(\d+)"/.exec(created)?.[1] ?? ''
    const code = /bwe_[\w-]+/.exec(operator(['agent', 'enroll', '--organization', organization]))?.[0] ?? ''
    const given = [
      `SERVER=${await startProxy(serviceUrl, scope)}`,
      'DB_ADMIN=admin',
      'DB_ADMIN_PASSWORD_FILE=C:\\admin.txt',
      `STATUS_PORT=${statusPort}`,
    ]
    expect(
      (await msiexec(wine, '/i', msi, ...given, `CODE=${code.slice(0, -4)}0000`)) !== 0,
      'a wrong code was accepted',
    )
    expectAnswer(endOf(wine, 'setup.log'), 'The enrolment code is wrong')
    expect(newFiles(wine, before).join() === `${dataFolder}/setup.log`, 'the refused installation left files')
    note('Windows', 'a wrong code: the installation failed, and setup.log says why')

    await install(office, msi, [...given, `CODE=${code}`])
    const first = await nextAgent(office)
    expectAnswer(operator(['location', 'list', '--organization', organization]), 'North')
    const records = first.lastCycle?.records
    note('Windows', `silent installation: found Open Dental, created its user, enrolled, sent ${records} records`)

    await killAgent(office, 'node.exe')
    const second = await nextAgent(office, first)
    note('Windows', 'killed Node: the service started it again')

    await killAgent(office, serviceHost)
    await isGone(office)
    expect((await wine.run('sc', 'start', 'BridgeworkAgent')).code === 0, 'the service does not start')
    let agent = await nextAgent(office, second)
    note('Windows', 'killed the service host: Node ended with it, and the service started again')

    const settings = settingsOf(office)
    for (const [version, file] of [
      ['0.2.1', otherVersion(msi, folder, '0.2.1')],
      [releaseVersion, msi],
    ] as const) {
      await install(office, file)
      agent = await nextAgent(office, agent)
      expect(settingsOf(office) === settings, 'the settings changed')
      const installed = (await installedVersions(wine)).join()
      expect(installed === version, `Windows lists ${installed}, not ${version}`)
      note('Windows', `installed ${version} over the other version: it runs with the same settings, and is alone`)
    }

    // Wine does not undo the removal of the version before, as Windows promises to.
    expect((await msiexec(wine, '/i', otherVersion(msi, folder, '0.2.2', true))) !== 0, 'a broken update succeeded')
    expect((await installedVersions(wine)).length === 0, 'a broken update is listed')
    await install(office, msi)
    agent = await nextAgent(office, agent)
    expect(settingsOf(office) === settings, 'the settings changed')
    note(
      'Windows',
      'an update that failed left settings and state: the version before, installed again, runs with them',
    )

    expect((await msiexec(wine, '/x', msi)) === 0, 'uninstalling failed')
    const left = newFiles(wine, before)
    expect(
      left.every((name) => name.startsWith(dataFolder)),
      `uninstalling left ${left.join(', ')}`,
    )
    expectAnswer(readFileSync(join(wine.drive, dataFolder, 'WHAT-STAYS.txt'), 'utf8'), 'ProgramData\\Bridgework\\Agent')
    expect((await wine.run('sc', 'query', 'BridgeworkAgent')).code !== 0, 'the service is still there')
    note('Windows', 'uninstalled: only the data folder is left, with a file that says so')

    await install(office, msi)
    await nextAgent(office, agent)
    expect(!existsSync(join(wine.drive, dataFolder, 'WHAT-STAYS.txt')), 'it still says that the agent was removed')
    expect((await msiexec(wine, '/x', msi, 'REMOVEDATA=1')) === 0, 'uninstalling failed')
    const remains = newFiles(wine, before)
    expect(remains.length === 0, `uninstalling with REMOVEDATA=1 left ${remains.join(', ')}`)
    note('Windows', 'installed again: it went on with its settings; uninstalled with REMOVEDATA=1: nothing is left')
  } finally {
    for (const work of cleanups) await work()
  }
}

type Office = { wine: Wine; statusUrl: string }

function placeOpenDental(wine: Wine, settings: string): void {
  const folder = join(wine.drive, 'Program Files (x86)/Open Dental')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'FreeDentalConfig.xml'), settings)
  writeFileSync(join(wine.drive, 'admin.txt'), 'may all')
}

function filesOf(wine: Wine): string[] {
  return globSync('**', { cwd: wine.drive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(wine.drive.length + 1))
}

/** The files that were not there before, without those of this trial and of Wine. */
function newFiles(wine: Wine, before: readonly string[]): string[] {
  const known = new Set(before)
  const ofTrial = /^(admin\.txt|trial\/|Program Files \(x86\)\/Open Dental\/|windows\/|users\/)/
  return filesOf(wine).filter((name) => !known.has(name) && !ofTrial.test(name))
}

async function msiexec(wine: Wine, what: '/i' | '/x', file: string, ...properties: string[]): Promise<number> {
  const trial = join(wine.drive, 'trial')
  mkdirSync(trial, { recursive: true })
  run('cp', [file, join(trial, 'agent.msi')])
  const { code } = await wine.run('msiexec', what, 'C:\\trial\\agent.msi', '/qn', ...properties)
  return code
}

async function install({ wine }: Office, file: string, properties: readonly string[] = []): Promise<void> {
  const code = await msiexec(wine, '/i', file, ...properties)
  if (code !== 0) throw new Error(`msiexec ended with ${code}. ${endOf(wine, 'setup.log')}`)
}

function settingsOf({ wine }: Office): string {
  return readFileSync(join(wine.drive, dataFolder, 'config.json'), 'utf8')
}

function endOf(wine: Wine, log: string): string {
  const file = join(wine.drive, dataFolder, log)
  return existsSync(file) ? readFileSync(file, 'utf8').slice(-2000) : `There is no ${log}.`
}

async function statusOf({ statusUrl }: Office): Promise<AgentStatus | null> {
  try {
    return (await (await fetch(statusUrl)).json()) as AgentStatus
  } catch {
    return null
  }
}

/** Waits until an agent, started after this one, has finished a cycle. */
async function nextAgent(office: Office, before?: AgentStatus): Promise<AgentStatus> {
  for (let tries = 0; tries < 240; tries++) {
    const now = await statusOf(office)
    if (now !== null && now.lastCycle !== null && now.startedAt !== before?.startedAt) return now
    await sleep(500)
  }
  throw new Error(`The agent did not finish a cycle. ${endOf(office.wine, 'agent.log')}`)
}

async function killAgent({ wine }: Office, program: string): Promise<void> {
  const { code, output } = await wine.run('taskkill', '/f', '/im', program)
  expect(code === 0, `taskkill: ${output}`)
}

/** Waits until no agent answers. */
async function isGone(office: Office): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    if ((await statusOf(office)) === null) return
    await sleep(250)
  }
  throw new Error('The agent outlived its service host.')
}

/** The versions in Windows' list of programs. */
async function installedVersions(wine: Wine): Promise<string[]> {
  const key = 'HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall'
  const { output } = await wine.run('reg', 'query', key, '/s')
  return output
    .split(/^HKEY_/m)
    .filter((program) => program.includes('Bridgework agent'))
    .map((program) => /DisplayVersion\s+REG_SZ\s+(\S+)/.exec(program)?.[1] ?? '')
}

/** The same installer with another version. Broken: its service host fails whatever it is asked. */
function otherVersion(msi: string, folder: string, version: string, isBroken = false): string {
  const at = join(folder, `windows-${version}`)
  for (const name of ['files', 'work']) mkdirSync(join(at, name), { recursive: true })
  run('msiextract', ['--directory', join(at, 'files'), msi])
  const tree = dirname(join(at, 'files', globSync(`**/${serviceHost}`, { cwd: join(at, 'files') })[0] ?? ''))
  if (isBroken) {
    const source = join(at, 'broken.c')
    writeFileSync(source, 'int main(void) { return 1; }\n')
    compileServiceHost(source, join(tree, serviceHost))
  }
  const madeAt = new Date(0)
  return join(at, packForWindows({ definition, tree, folder: join(at, 'work'), to: at, version, madeAt }))
}

function expect(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(`Windows: ${otherwise}.`)
}
