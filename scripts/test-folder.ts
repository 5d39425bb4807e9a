// Where a test run keeps its files.
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** A whole run was seen to need a quarter of it. */
const roomMin = 4 * 2 ** 30

/**
 * The folder of everything that a test run writes, `tmp` for the tests themselves included: in RAM where there is room (a database is then
 * cloned with a third of the work), else on the disk. The caller removes it. `place` and `room` are for tests.
 */
export function makeTestFolder({ place = memory, room = roomIn(place) } = {}): string {
  const folder = (room >= roomMin && makeIn(place)) || makeIn(tmpdir())
  if (folder === null) throw new Error(`No program can be run in ${tmpdir()}. Set TMPDIR to a folder that allows it.`)
  return folder
}

/** In bytes. What the folder may hold says nothing of how much memory is free, nor of a container's limit. */
function roomIn(place: string): number {
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(place)
    return Math.min(bavail * bsize, process.availableMemory() / 2)
  } catch {
    return 0
  }
}

/** Null where programs cannot run, as some tests write theirs. Sockets are below it and their paths are limited: hence the short names. */
function makeIn(place: string): string | null {
  const folder = mkdtempSync(join(place, 'bw-'))
  // As root, Postgres runs as an account that must be able to pass through.
  chmodSync(folder, 0o711)
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  const run = spawnSync(program)
  rmSync(program)
  if (run.status !== 0) {
    rmSync(folder, { recursive: true })
    return null
  }
  mkdirSync(join(folder, 'tmp'), { mode: 0o711 })
  return folder
}

/**
 * A shell that outlives us, should we be killed: it reads from a pipe that only we hold, and when that ends it stops what runs in the folder
 * and removes it. After an orderly end it finds nothing.
 */
export function removeWhenKilled(folder: string): void {
  const script = `trap '' INT TERM HUP; cat > /dev/null
    for file in "$1"/data/postgres/data/postmaster.pid "$1"/elsewhere/*/data/postmaster.pid; do
      [ -f "$file" ] && kill -QUIT "$(head -n 1 "$file")" && sleep 1
    done
    rm -rf "$1"`
  const shell = spawn('/bin/sh', ['-c', script, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  shell.unref()
  // The pipe must not keep us alive either.
  const pipe = shell.stdin as unknown as { unref?: () => void }
  pipe.unref?.()
}
