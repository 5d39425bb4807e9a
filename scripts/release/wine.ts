import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDebianRoot } from './debian-root.ts'
import { note } from './try-out.ts'

const debian = '/var/cache/bridgework/trixie'

/** An empty Windows of its own, by Wine. It is gone after the scope. */
export type Wine = {
  /** The folder of its drive C:. */
  drive: string
  /** Runs a program of Windows to its end. */
  run: (...args: string[]) => Promise<{ code: number; output: string }>
}

/**
 * Starts Wine 10 in a Debian 13 of its own, because Node 26 does not run in the Wine of Debian 12. Makes that Debian once (1.2 GB). Null, with
 * a word about it, where root or debootstrap is missing.
 */
export async function startWine(scope: { after(work: () => Promise<void> | void): void }): Promise<Wine | null> {
  if (process.getuid?.() !== 0 || process.platform !== 'linux' || process.arch !== 'x64') {
    note('Windows', 'not tried: Wine needs root on a Linux machine with an x64 processor')
    return null
  }
  if (!existsSync(debian)) {
    if (spawnSync('debootstrap', ['--version']).error) {
      note(
        'Windows',
        'not tried: Wine 10 needs debootstrap (apt-get install debootstrap), which makes a Debian 13 for it',
      )
      return null
    }
    note('Windows', `making a Debian 13 with Wine in ${debian}: some minutes, once`)
    makeDebianRoot(debian, ['wine', 'wine64'])
  }
  const home = mkdtempSync(join(debian, 'root/bridgework-'))
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: home.slice(debian.length),
    WINEPREFIX: join(home.slice(debian.length), 'prefix'),
    WINEDEBUG: '-all',
    // Wine would offer to install these.
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    LANG: 'C.UTF-8',
  }
  // Its own mounts, which end with it.
  const inside = `mount --bind /proc ${debian}/proc && mount --bind /dev ${debian}/dev && exec chroot ${debian} "$@"`
  const command = (args: readonly string[]) => ['--mount', 'sh', '-c', inside, 'sh', ...args]
  let started = 0
  const start = async (...args: string[]) => {
    // A file, because what Wine leaves running would keep a pipe open.
    const file = join(home, `output-${++started}`)
    const output = openSync(file, 'w')
    const program = spawn('unshare', command(args), {
      env,
      stdio: ['ignore', output, output],
      timeout: 300_000,
      killSignal: 'SIGKILL',
    })
    const [code] = await once(program, 'exit')
    closeSync(output)
    return { code: Number(code ?? -1), output: readFileSync(file, 'utf8') }
  }
  scope.after(async () => {
    await start('wineserver', '--kill')
    await start('wineserver', '--wait')
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const { output: version } = await start('wine', '--version')
  if (!/^wine-\d\d/m.test(version)) {
    throw new Error(`The Windows installer is tried under Wine 10 or newer, not ${version.trim()}. Delete ${debian}.`)
  }
  await start('wineboot', '--init')
  await start('wineserver', '--wait')
  // Wine ends its services with the last program of a person: this one waits for its input.
  const person = spawn('unshare', command(['wine', 'cmd']), { env, stdio: ['pipe', 'ignore', 'ignore'] })
  scope.after(() => void person.kill())
  return { drive: join(home, 'prefix/drive_c'), run: (...args) => start('wine', ...args) }
}
