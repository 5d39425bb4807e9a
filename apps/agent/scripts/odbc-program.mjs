import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../odbc/bridgework-agent-odbc.c', import.meta.url))
const forWindows = ['-static', '-Wl,--no-insert-timestamp']
const targets = {
  here: { compiler: 'cc', flags: ['-pthread'], library: '-lodbc', packages: 'gcc libc6-dev unixodbc-dev' },
  'win32-x64': {
    compiler: 'x86_64-w64-mingw32-gcc',
    flags: forWindows,
    library: '-lodbc32',
    packages: 'gcc-mingw-w64-x86-64',
  },
  'win32-ia32': {
    compiler: 'i686-w64-mingw32-gcc',
    flags: forWindows,
    library: '-lodbc32',
    packages: 'gcc-mingw-w64-i686',
  },
}

export function compileOdbcProgram(target, to) {
  const { compiler, flags, library } = targets[target]
  const args = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-s', ...flags, '-o', to, source, library]
  const run = spawnSync(compiler, args, { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`${compiler} failed: ${run.error?.message ?? run.stderr}`)
}

export function lacksForOdbc(target) {
  const { compiler, packages } = targets[target]
  const input = `${target === 'here' ? '' : '#include <windows.h>\n'}#include <sqlext.h>\n`
  if (spawnSync(compiler, ['-x', 'c', '-fsyntax-only', '-'], { input }).status === 0) return null
  return `a compiler with ODBC (on Debian: apt-get install ${packages})`
}
