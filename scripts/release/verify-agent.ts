import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { testPractice } from '../../apps/agent/src/open-dental/testing/test-practice.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { startTestMariaDb } from '../../packages/practice-simulator/src/open-dental/testing/test-mariadb.ts'
import { debianArchitecture } from './debian.ts'
import { expectAnswer, note, run, startProxy, verifyUnit } from './try-out.ts'

/** A service of this release for the trials of the agent. */
export type Service = {
  /** The folder of the artefacts, and one for what is tried. */
  release: string
  folder: string
  /** A service of this release, behind a proxy that would speak TLS. */
  serviceUrl: string
  operator: (args: string[]) => string
}

const places = [
  '/etc/bridgework-agent',
  '/var/lib/bridgework-agent',
  '/usr/lib/bridgework-agent',
  '/usr/bin/bridgework-agent',
]

/**
 * Installs the agent's Debian package on this machine, enrols it at a service, lets it read a practice, upgrades, removes and purges it. Only
 * as root, and only where no agent is installed: what was there before would be gone.
 */
export async function verifyInstalledAgent({ release, folder, serviceUrl, operator }: Service): Promise<void> {
  const architecture = debianArchitecture(`${process.platform}-${process.arch}`)
  const file = join(release, `bridgework-agent_${releaseVersion}_${architecture}.deb`)
  if (process.getuid?.() !== 0 || !existsSync(file) || places.some((path) => existsSync(path))) {
    note('agent', 'not installed: that needs root, dpkg, and a machine without an agent')
    return
  }
  const cleanups: (() => Promise<void> | void)[] = []
  const scope = { after: (work: () => Promise<void> | void) => void cleanups.unshift(work) }
  const env = { PATH: process.env.PATH, BRIDGEWORK_AGENT_DB_PASSWORD: 'reads only' }
  // Not as `run`, which would keep the proxy of this process from answering.
  const agent = async (...args: string[]) =>
    (await promisify(execFile)('/usr/bin/bridgework-agent', args, { cwd: '/', env, encoding: 'utf8' })).stdout
  try {
    const mariaDb = await startTestMariaDb(scope)
    chmodSync(dirname(mariaDb.socket), 0o711)
    const practice = await testPractice(mariaDb)
    const proxyUrl = await startProxy(serviceUrl, scope)

    scope.after(() => void spawnSync('dpkg', ['--purge', 'bridgework-agent']))
    run('dpkg', ['--install', file])
    expectAnswer(await agent('--version'), releaseVersion)
    const organization = /"id": ?"(\d+)"/.exec(
      operator([
        'organization',
        'create',
        '--name',
        'Agent Test',
        '--time-zone',
        'America/New_York',
        '--country',
        'US',
        '--json',
      ]),
    )?.[1]
    const code = /bwe_[\w-]+/.exec(operator(['agent', 'enroll', '--organization', organization ?? '']))?.[0]
    const { user, socket, name } = practice.settings
    await agent(
      'enroll',
      '--server',
      proxyUrl,
      '--code',
      code ?? '',
      '--db-user',
      user,
      '--db-socket',
      socket,
      '--db-name',
      name,
    )
    for (const path of ['/etc/bridgework-agent/config.json', '/etc/bridgework-agent', '/var/lib/bridgework-agent']) {
      const { mode, uid } = statSync(path)
      if ((mode & 0o077) !== 0 || uid === 0)
        throw new Error(`${path} belongs to ${uid} and has mode ${mode.toString(8)}.`)
    }
    await agent('check')
    await agent('run', '--once')
    expectAnswer(operator(['location', 'list', '--organization', organization ?? '']), 'North')
    note('agent', 'installed, enrolled, checked; one cycle brought the practice to the service')

    const key = readFileSync('/etc/bridgework-agent/config.json', 'utf8')
    run('dpkg', ['--install', laterPackage(file, folder)])
    if (readFileSync('/etc/bridgework-agent/config.json', 'utf8') !== key)
      throw new Error('The upgrade changed the settings.')
    await agent('run', '--once')
    run('dpkg', ['--remove', 'bridgework-agent'])
    if (!existsSync('/var/lib/bridgework-agent/state.sqlite')) throw new Error('Removal took the state.')
    run('dpkg', ['--purge', 'bridgework-agent'])
    const left = [
      ...places.filter((path) => existsSync(path)),
      ...globSync('/usr/lib/systemd/system/bridgework-agent*'),
      ...(/^bridgework-agent:.*/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []),
    ]
    if (left.length > 0) throw new Error(`Purging left: ${left.join(', ')}`)
    note('agent', 'upgraded with its settings, removed without them, purged: nothing is left')
  } finally {
    for (const work of cleanups) await work()
  }
}

/** What can be known of the agent's archives for other machines, and of its unit. */
export function verifyAgentArchives(release: string, folder: string): void {
  for (const name of readdirSync(release).filter((each) => /^bridgework-agent-.*-darwin-.*gz$/.test(each))) {
    const listed = run('tar', ['tzf', join(release, name)])
    for (const part of ['/install.sh', '/program/bridgework-agent.js', '/node/bin/node', '/sbom.cdx.json']) {
      expectAnswer(listed, part)
    }
    note('agent', `${name}: complete (not started: it is for macOS)`)
  }
  const [deb] = readdirSync(release).filter((each) => /^bridgework-agent_.*[.]deb$/.test(each))
  if (deb === undefined || spawnSync('systemd-analyze', ['--version']).status !== 0) return
  const unpacked = join(folder, 'agent')
  run('dpkg-deb', ['--raw-extract', join(release, deb), unpacked])
  verifyUnit(unpacked, 'bridgework-agent')
}

/** The same package with a later version. */
function laterPackage(file: string, folder: string): string {
  const unpacked = join(folder, 'later')
  mkdirSync(unpacked)
  run('dpkg-deb', ['--raw-extract', file, unpacked])
  const control = join(unpacked, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*/m, `Version: ${releaseVersion}+later`))
  run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', unpacked, `${unpacked}.deb`])
  return `${unpacked}.deb`
}
