import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { licenceTexts } from '../licences.mjs'
import { type LockFile, productionPackages } from './production-packages.ts'
import { reachableSources } from './reachable-sources.ts'

/** What the package starts: the server, the operator's command, the sandbox's demo practice and the thread that ranks passwords. */
const programs = [
  'apps/server/src/main.ts',
  'apps/server/src/apis/operator/main.ts',
  'apps/agent/src/demo/main.ts',
  'apps/server/src/modules/sign-in/password/password-strength-thread.ts',
]

/** Read by path and not by import. */
const dataFiles = [
  'apps/server/src/platform/database/migrations/*.sql',
  'apps/portal/dist/**/*',
  'apps/guides/dist/**/*',
  'apps/server/dist/downloads/*',
]

/** Packages of the portal that build its pages and are not in them. */
const pageBuilders = ['vite', '@vitejs/plugin-react']

/** For those who read or change the sources of a package, not for those who run it. Node's glob, by which we pack, lists no hidden files. */
const leftOut = /\.(map|d\.ts|d\.mts|d\.cts)$|(^|\/)\./

/**
 * Lays out the server's package in an empty folder: `app` with our sources and what they need, `node` that runs them, and the commands.
 * PostgreSQL is not in it: the embedded one is for clones. Returns the folders of `node_modules` that are in it, as paths from the root.
 */
export async function layOutServer(root: string, folder: string): Promise<string[]> {
  const app = join(folder, 'app')
  const { files, packages } = await reachableSources(root, programs)
  for (const path of [...files, ...globSync(dataFiles, { cwd: root })]) copy(root, app, path)
  for (const workspace of packages.keys()) {
    copy(root, app, `${workspace}/package.json`)
    link(join(app, workspace), join(app, 'node_modules/@bridgework', basename(workspace)))
  }
  const lock: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const places = new Set([...packages].flatMap(([workspace, names]) => productionPackages(lock, workspace, names)))
  // What is optional is missing where it is for another machine.
  const installed = [...places].filter((place) => existsSync(join(root, place))).sort()
  for (const place of installed) copyPackage(root, app, place)
  writeFileSync(join(app, 'package.json'), `${JSON.stringify(manifestOf(root), null, 2)}\n`)
  cpSync(join(nodePackage(root), 'bin/node'), join(folder, 'node/bin/node'))
  cpSync(join(nodePackage(root), 'LICENSE'), join(folder, 'node/LICENSE'))
  for (const name of ['LICENSE', 'CHANGELOG.md']) copy(root, folder, name)
  const licensed = [...new Set([...installed, ...packagesInPages(root, lock)])].sort()
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenceTexts(licensed.map((place) => join(root, place))))
  cpSync(join(root, 'deploy/server'), folder, { recursive: true })
  return installed
}

/** Lays out the server's Debian package in an empty folder, from its tree. */
export function layOutServerForDebian(definition: string, tree: string, folder: string): void {
  for (const path of ['usr/bin', 'usr/lib/systemd/system', 'etc/bridgework']) {
    mkdirSync(join(folder, path), { recursive: true })
  }
  cpSync(tree, join(folder, 'usr/lib/bridgework-server'), { recursive: true, verbatimSymlinks: true })
  for (const command of ['bridgework-server', 'bridgework-operator']) {
    symlinkSync(`../lib/bridgework-server/${command}`, join(folder, 'usr/bin', command))
  }
  cpSync(join(definition, 'server.env'), join(folder, 'etc/bridgework/server.env'))
  const unit = 'bridgework-server.service'
  cpSync(join(definition, unit), join(folder, 'usr/lib/systemd/system', unit))
}

/** The folder of the package that holds the Node of this machine's kind: `npm run release` makes packages for that kind. */
export function nodePackage(root: string): string {
  return join(root, 'node_modules', `node-${process.platform}-${process.arch}`)
}

/** The packages whose code and typeface are in the portal's built pages, as folders of `node_modules`. */
function packagesInPages(root: string, lock: LockFile): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'apps/portal/package.json'), 'utf8'))
  const names = Object.keys(dependencies).filter((name) => !pageBuilders.includes(name))
  return productionPackages(lock, 'apps/portal', names).filter((place) => existsSync(join(root, place)))
}

function manifestOf(root: string): object {
  const { name, version, description, license, type } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { name, private: true, version, description, license, type }
}

function copyPackage(root: string, app: string, place: string): void {
  const source = join(root, place)
  cpSync(source, join(app, place), {
    recursive: true,
    verbatimSymlinks: true,
    // Packages inside packages are places of their own.
    filter: (path) =>
      path === source ||
      !(relative(source, path).split('/')[0] === 'node_modules' || leftOut.test(relative(source, path))),
  })
}

function copy(root: string, to: string, path: string): void {
  cpSync(join(root, path), join(to, path), { recursive: true, verbatimSymlinks: true })
}

function link(target: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(relative(dirname(at), target), at)
}
