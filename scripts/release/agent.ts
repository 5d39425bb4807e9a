import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileOdbcProgram, lacksForOdbc } from '../../apps/agent/scripts/odbc-program.mjs'
import { layOutAgent } from './agent-tree.ts'
import { pack } from './archive.ts'
import { canPackForDebian, debianArchitecture, packForDebian } from './debian.ts'
import { type Machine, nodeFor } from './node-programs.ts'
import { compileServiceHost, lacksForWindows, packForWindows, serviceHost } from './windows-installer.ts'

/** What all artefacts of the agent are made from. `bom` gives the bill of materials for the packages at these places. */
export type AgentRelease = {
  root: string
  stage: string
  to: string
  version: string
  madeAt: Date
  bom: (places: readonly string[]) => string
  say: (text: string) => void
}

/** Makes the agent for offices: Debian packages for Linux and tarballs for macOS, an installer for Windows. The same commit makes the same bytes. */
export async function makeAgentArtefacts(release: AgentRelease): Promise<void> {
  for (const machine of ['linux-x64', 'linux-arm64'] as const) {
    if (canPackForDebian()) await makeDebianPackage(release, machine)
  }
  for (const machine of ['darwin-arm64', 'darwin-x64'] as const) await makeMacTarball(release, machine)
  await makeWindowsInstaller(release)
}

/**
 * The agent's folder for a kind of machine, with its bill of materials, in a folder of this name. The bill is also an artefact of its own,
 * once: it is the same for every kind.
 */
export async function makeAgentTree(release: AgentRelease, machine: Machine, name: string): Promise<string> {
  const { root, stage, to, version, bom, say } = release
  say(`The agent: ${machine}`)
  const folder = join(stage, name)
  const node = await nodeFor(root, machine, stage)
  const text = bom(await layOutAgent({ root, folder, machine, node }))
  writeFileSync(join(folder, 'sbom.cdx.json'), text)
  writeFileSync(join(to, `bridgework-agent-${version}.cdx.json`), text)
  // It is large, and every kind needs its own.
  if (node.startsWith(stage)) rmSync(join(node, '..'), { recursive: true })
  return folder
}

async function makeDebianPackage(release: AgentRelease, machine: Machine): Promise<void> {
  const { root, stage, to, version, madeAt } = release
  const tree = await makeAgentTree(release, machine, `agent-${machine}`)
  addOdbcProgram(tree, machine)
  const folder = join(stage, `debian-agent-${machine}`)
  for (const path of ['usr/bin', 'usr/lib/systemd/system']) mkdirSync(join(folder, path), { recursive: true })
  cpSync(tree, join(folder, 'usr/lib/bridgework-agent'), { recursive: true })
  const definition = join(root, 'deploy/debian/agent')
  symlinkSync('../lib/bridgework-agent/as-service-account', join(folder, 'usr/bin/bridgework-agent'))
  cpSync(join(definition, 'as-service-account'), join(folder, 'usr/lib/bridgework-agent/as-service-account'))
  const unit = 'systemd/bridgework-agent.service'
  cpSync(join(root, 'apps/agent', unit), join(folder, 'usr/lib/systemd/system/bridgework-agent.service'))
  packForDebian({
    name: 'bridgework-agent',
    definition,
    folder,
    to,
    version,
    architecture: debianArchitecture(machine),
    madeAt,
  })
}

/** The program is linked with this machine's own ODBC, so another kind of machine must make its own. */
function addOdbcProgram(tree: string, machine: Machine): void {
  const isOther = machine !== `${process.platform}-${process.arch}`
  const lacks = isOther ? `a machine of the kind ${machine}` : lacksForOdbc('here')
  if (lacks === null) compileOdbcProgram('here', join(tree, 'bridgework-agent-odbc'))
  else console.error(`No program for ODBC in the package for ${machine}: this machine lacks ${lacks}.`)
}

async function makeMacTarball(release: AgentRelease, machine: Machine): Promise<void> {
  const name = `bridgework-agent-${release.version}-${machine}`
  const tree = await makeAgentTree(release, machine, name)
  cpSync(join(release.root, 'deploy/macos/agent'), tree, { recursive: true })
  await pack(tree, join(release.to, `${name}.tar.gz`), release.madeAt)
}

async function makeWindowsInstaller(release: AgentRelease): Promise<void> {
  const lacks = lacksForWindows()
  if (lacks !== null) return console.error(`No Windows installer: this machine lacks ${lacks}.`)
  const { root, stage, to, version, madeAt } = release
  const tree = await makeAgentTree(release, 'win32-x64', 'agent-win32-x64')
  const definition = join(root, 'deploy/windows')
  compileServiceHost(join(definition, 'service-host.c'), join(tree, serviceHost))
  compileOdbcProgram('win32-x64', join(tree, 'bridgework-agent-odbc.exe'))
  // The drivers of old systems have 32 bits, and only a program of 32 can load them.
  compileOdbcProgram('win32-ia32', join(tree, 'bridgework-agent-odbc-32.exe'))
  cpSync(join(definition, 'mingw-w64.txt'), join(tree, 'mingw-w64.txt'))
  const folder = join(stage, 'windows-installer')
  mkdirSync(folder)
  packForWindows({ definition, tree, folder, to, version, madeAt })
}
