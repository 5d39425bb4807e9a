import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, globSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const compiler = 'x86_64-w64-mingw32-gcc'
/** The program that Windows starts as the service, in the agent's folder. */
export const serviceHost = 'bridgework-agent-service.exe'

/** The programs that make the Windows installer and are missing here, with the command that installs them; null when all are there. */
export function lacksForWindows(): string | null {
  const programs = [compiler, 'i686-w64-mingw32-gcc', 'wixl', 'msibuild', 'msiinfo']
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined)
  return missing.length === 0
    ? null
    : `${missing.join(', ')} (on Debian: apt-get install gcc-mingw-w64-x86-64 gcc-mingw-w64-i686 wixl msitools)`
}

/** The switches of a silent installation, and the option of `setup` that each gives. */
export const switches = {
  SERVER: 'server',
  CODE: 'code',
  AGENT_NAME: 'name',
  OPEN_DENTAL: 'open-dental',
  DB_HOST: 'db-host',
  DB_PORT: 'db-port',
  DB_NAME: 'db-name',
  DB_ADMIN: 'db-admin',
  DB_ADMIN_PASSWORD_FILE: 'db-admin-password-file',
  DB_USER: 'db-user',
  DB_PASSWORD_FILE: 'db-password-file',
  TIME_ZONE: 'time-zone',
  PROXY: 'proxy',
  CA_FILE: 'ca-file',
  STATUS_PORT: 'status-port',
} as const

/** Compiles the program that Windows starts as the service. The same source and compiler make the same bytes. */
export function compileServiceHost(source: string, to: string): void {
  run(compiler, [
    '-std=c11',
    '-O2',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-DUNICODE',
    '-D_UNICODE',
    '-mwindows',
    '-static',
    '-s',
    // The linker would write the time into the file.
    '-Wl,--no-insert-timestamp',
    '-o',
    to,
    source,
    '-ladvapi32',
    '-lshell32',
  ])
}

/**
 * Makes the Windows installer of an agent's folder, in which `bridgework-agent-service.exe` is the service host, and returns its name. The
 * same folder and time make the same bytes. `folder` is an empty folder to work in.
 */
export function packForWindows(options: {
  definition: string
  tree: string
  folder: string
  to: string
  version: string
  madeAt: Date
}): string {
  const { definition, tree, folder, to, version, madeAt } = options
  const names = globSync('**', { cwd: tree, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1))
    .sort()
  const staged = join(folder, 'files')
  for (const name of names) {
    const file = join(staged, name)
    mkdirSync(dirname(file), { recursive: true })
    copyFileSync(join(tree, name), file)
    // A cabinet has the times of its files.
    utimesSync(file, madeAt, madeAt)
  }
  const hash = createHash('sha256').update(`${version} ${madeAt.getTime()}`)
  for (const name of names) hash.update(name).update(readFileSync(join(staged, name)))
  const content = hash.digest('hex')
  const template = readFileSync(join(definition, 'agent.wxs'), 'utf8')
  writeFileSync(join(folder, 'agent.wxs'), installerDefinition(template, { names, version, content }))
  const name = `bridgework-agent-${version}-win32-x64.msi`
  // It finds files below the folder that it runs in only.
  run('wixl', ['--arch', 'x64', '--output', 'made.msi', 'agent.wxs'], { cwd: folder })
  assembleAgain({ folder, file: join(to, name), packageCode: guid(`package ${content}`), madeAt })
  return name
}

/** When our own actions run, among those of Windows: wixl puts some of them where they cannot work. */
const sequence: Record<string, number> = {
  // Between InstallInitialize and ProcessComponents: a new version that fails brings the old one back.
  RemoveExistingProducts: 1501,
  SayWhatStays: 1300,
  // After DeleteServices, before RemoveFiles takes the program that they run.
  RemoveKeepingData: 2001,
  RemoveWithData: 2002,
  // After InstallServices.
  Configure: 5801,
  Enrol: 5802,
  OpenSetup: 6601,
}

/**
 * Makes the installer once more from the tables that wixl wrote: it leaves rows in the order of their places in memory, and its own time and
 * a random number among them. Tables are imported in the order of their names, with sorted rows.
 */
function assembleAgain(made: { folder: string; file: string; packageCode: string; madeAt: Date }): void {
  const { folder, file, packageCode, madeAt } = made
  const msi = join(folder, 'made.msi')
  const names = run('msiinfo', ['tables', msi]).toString().trim().split('\n').sort()
  const time = madeAt.toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' ')
  const summary: Record<string, string> = { 9: `{${packageCode}}`, 12: time, 13: time }
  const secure = ['OTHERVERSION', 'REMOVEDATA', ...Object.keys(switches)].join(';')
  for (const name of ['_SummaryInformation', ...names.filter((each) => !each.startsWith('_'))]) {
    const [columns, types, key, ...rows] = run('msiinfo', ['export', msi, name])
      .toString()
      .replace(/\r\n$/, '')
      .split('\r\n')
    const changed = rows.map((row) => {
      const [first = '', ...others] = row.split('\t')
      if (name === '_SummaryInformation') return [first, summary[first] ?? others[0]].join('\t')
      if (name === 'InstallExecuteSequence') return [first, others[0], sequence[first] ?? others[1]].join('\t')
      // wixl has no word for it: these pass from the account that installs to Windows' own.
      return first === 'SecureCustomProperties' ? `${first}\t${secure}` : row
    })
    const table = join(folder, `${name}.idt`)
    writeFileSync(table, `${[columns, types, key, ...changed.sort()].join('\r\n')}\r\n`)
    run('msibuild', [file, '-i', table])
  }
  const cabinet = join(folder, 'agent.cab')
  writeFileSync(cabinet, run('msiinfo', ['extract', msi, 'agent.cab']))
  run('msibuild', [file, '-a', 'agent.cab', cabinet])
}

/** The definition with its files, ids and switches. Two versions, or two contents, have other ids; the same have the same. */
export function installerDefinition(
  template: string,
  made: { names: readonly string[]; version: string; content: string },
): string {
  const { names, version, content } = made
  const places: Record<string, string> = {
    productCode: guid(`product ${content}`),
    packageCode: guid(`package ${content}`),
    version,
    host: idOf(serviceHost),
    options: Object.entries(switches)
      .map(([name, option]) => `--${option} &quot;[${name}]&quot;`)
      .join(' '),
    files: filesIn('', names),
    components: names.map((name) => `      <ComponentRef Id="C${idOf(name)}" />`).join('\n'),
  }
  return template.replace(/\{(\w+)\}/g, (all, name: string) => places[name] ?? all)
}

/** The elements of a folder's files and folders. */
function filesIn(folder: string, names: readonly string[]): string {
  const inside = names.filter((name) => name.startsWith(folder))
  const folders = new Set(inside.flatMap((name) => /^[^/]+\//.exec(name.slice(folder.length))?.[0] ?? []))
  const files = inside.filter((name) => !name.slice(folder.length).includes('/'))
  return [
    ...files.map((name) => {
      const service = name === serviceHost ? serviceElements : ''
      return `<Component Id="C${idOf(name)}" Guid="${guid(`component ${name}`)}" Win64="yes"><File Id="${idOf(name)}" Name="${name.slice(folder.length)}" Source="files/${name}" KeyPath="yes" />${service}</Component>`
    }),
    ...[...folders].map((name) => {
      const path = `${folder}${name}`
      return `<Directory Id="${idOf(path)}" Name="${name.slice(0, -1)}">\n${filesIn(path, names)}\n</Directory>`
    }),
  ].join('\n')
}

/** An account of its own, made by Windows from the service's name. `configure` starts it where the agent is enrolled. */
const serviceElements =
  '<ServiceInstall Id="Service" Name="BridgeworkAgent" DisplayName="Bridgework agent" Description="Sends what changed in the practice to Bridgework" Type="ownProcess" Start="auto" ErrorControl="normal" Account="NT SERVICE\\BridgeworkAgent" Arguments="service" />' +
  '<ServiceControl Id="ServiceControl" Name="BridgeworkAgent" Stop="both" Remove="uninstall" Wait="yes" />'

function idOf(name: string): string {
  return `f${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}

function guid(of: string): string {
  const hash = createHash('sha256').update(`bridgework agent for windows ${of}`).digest('hex').toUpperCase()
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

function run(command: string, args: string[], options: { cwd?: string } = {}): Buffer {
  // The tools write and read times as those of the machine's zone.
  const env = { ...process.env, TZ: 'UTC' }
  const done = spawnSync(command, args, { maxBuffer: 200_000_000, env, ...options })
  if (done.status !== 0) throw new Error(`${command} failed: ${done.error?.message ?? done.stderr}`)
  return done.stdout
}
