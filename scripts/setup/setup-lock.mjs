// One set-up at a time: npm ci begins by removing node_modules.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Runs `work` while no other set-up of this clone runs. Waits for one that does, and takes over from one that was killed. */
export async function underSetupLock(root, work) {
  const lock = join(root, '.setup.lock')
  let hasSaid = false
  while (!take(lock)) {
    if (removeIfLeft(lock)) continue
    if (!hasSaid) console.error(`Waiting for another set-up of this clone (process ${holderOf(lock) ?? 'unknown'}).`)
    hasSaid = true
    await sleep(200)
  }
  const release = () => rmSync(lock, { recursive: true, force: true })
  const stop = () => {
    release()
    process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
  try {
    return await work()
  } finally {
    release()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop)
  }
}

function take(lock) {
  try {
    // A folder, because making one either succeeds or finds it there.
    mkdirSync(lock)
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
  writeFileSync(join(lock, 'pid'), String(process.pid))
  return true
}

/** A killed set-up cannot give its lock back. Renamed first, so that of two that see it only one removes it. */
function removeIfLeft(lock) {
  const pid = holderOf(lock)
  if (pid === undefined ? ageMs(lock) < 5_000 : isAlive(pid)) return false
  const away = `${lock}.${process.pid}`
  try {
    renameSync(lock, away)
  } catch {
    return true
  }
  rmSync(away, { recursive: true, force: true })
  return true
}

function holderOf(lock) {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8')) || undefined
  } catch {
    return undefined
  }
}

function ageMs(lock) {
  const stat = statSync(lock, { throwIfNoEntry: false })
  return stat ? Date.now() - stat.mtimeMs : 0
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
