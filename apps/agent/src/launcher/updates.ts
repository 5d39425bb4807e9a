import type { KeyObject } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { isEarlierRelease, isReleaseVersion } from '@bridgework/contract/release'
import { openRelease, UpdateRefused } from '@bridgework/contract/signed-release'
import { createOwnFile, NotOwn, readOwnFile, requireOwnFolder } from './own-file.ts'

/**
 * Which version runs. `next` was installed and has not reported yet; `starts` counts how often it was started. A version in `refused` was
 * tried and rolled back.
 */
export type UpdateState = {
  readonly current: string | null
  readonly next: string | null
  readonly starts: number
  readonly refused: readonly string[]
}

/** The installed releases of one agent: the folder `updates` of its data. */
export type Updates = {
  readonly read: () => UpdateState
  readonly write: (state: UpdateState) => void
  /** Verifies a release and makes it the next one; its version. Throws `UpdateRefused`. `running` is the version of the package. */
  readonly install: (release: Buffer, running: string) => string
  /** The file to start for a version; null when its release is missing, damaged or not signed with our key. */
  readonly program: (version: string) => string | null
  /** Why what is in the folder is not used, for a person; null where it is. */
  readonly problem: () => string | null
  /** Deletes all releases but these. */
  readonly keep: (versions: readonly (string | null)[]) => void
}

const nothing: UpdateState = { current: null, next: null, starts: 0, refused: [] }

/**
 * Each file is written beside its place, flushed and renamed, and the state names a release only after the release is there: whichever step is
 * the last before a kill or a power cut, what the state names can be started. `step` is called before each of them, for a test.
 */
export function openUpdates(dataDir: string, publicKey: KeyObject, step: () => void = () => {}): Updates {
  const folder = join(dataDir, 'updates')
  const stateFile = join(folder, 'state.json')

  /** The data folder may be named by a link, which an administrator set; below it, nothing may. */
  function requireFolders(): void {
    requireOwnFolder(realpathSync(dataDir))
    requireOwnFolder(folder)
  }

  function problem(): string | null {
    try {
      if (isThere(folder)) requireFolders()
      return null
    } catch (error) {
      if (error instanceof NotOwn) return error.message
      throw error
    }
  }

  function readFile(path: string): Buffer {
    requireFolders()
    return readOwnFile(path)
  }

  function read(): UpdateState {
    try {
      return stateOf(JSON.parse(readFile(stateFile).toString()))
    } catch {
      // Without it, or when it cannot be read, the version of the package runs.
      return nothing
    }
  }

  function put(path: string, content: Buffer | string): void {
    const temporary = `${path}.new`
    step()
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    if (!isThere(folder)) mkdirSync(folder, { mode: 0o700 })
    requireFolders()
    try {
      const file = createOwnFile(temporary)
      try {
        const bytes = Buffer.from(content)
        step()
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
        step()
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      step()
      renameSync(temporary, path)
    } catch (error) {
      // A full disk must not stay full because of us.
      rmSync(temporary, { force: true })
      throw error
    }
    step()
  }

  const write = (state: UpdateState) => put(stateFile, `${JSON.stringify(state)}\n`)
  const releaseOf = (version: string) => join(folder, `${version}.release`)

  return {
    read,
    write,
    install: (release, running) => {
      const { version } = openRelease(release, publicKey)
      const state = read()
      const newest = [state.current, running].reduce<string>((a, b) => (b && isEarlierRelease(a, b) ? b : a), running)
      if (!isEarlierRelease(newest, version)) {
        throw new UpdateRefused(
          `Version ${version} is not newer than ${newest}. To go back, install the older package.`,
        )
      }
      try {
        put(releaseOf(version), release)
      } catch (error) {
        if (error instanceof NotOwn) throw new UpdateRefused(error.message)
        throw error
      }
      write({ ...state, next: version, starts: 0, refused: state.refused.filter((each) => each !== version) })
      return version
    },
    program: (version) => {
      if (!isReleaseVersion(version)) return null
      try {
        const { version: signed, program } = openRelease(readFile(releaseOf(version)), publicKey)
        if (signed !== version) return null
        const path = join(folder, `${version}.mjs`)
        if (!holds(path, program)) put(path, program)
        return path
      } catch {
        return null
      }
    },
    problem,
    keep: (versions) => {
      if (!isThere(folder) || problem() !== null) return
      const kept = new Set(['state.json', ...versions.flatMap((each) => [`${each}.release`, `${each}.mjs`])])
      for (const name of readdirSync(folder)) {
        step()
        if (!kept.has(name)) rmSync(join(folder, name), { force: true })
      }
    },
  }
}

/** What a state file says, where it has the form. */
function stateOf(content: unknown): UpdateState {
  if (typeof content !== 'object' || content === null) return nothing
  const { current, next, starts, refused }: Partial<Record<keyof UpdateState, unknown>> = content
  return {
    current: isReleaseVersion(current) ? current : null,
    next: isReleaseVersion(next) ? next : null,
    starts: Number.isSafeInteger(starts) ? Number(starts) : 0,
    refused: Array.isArray(refused) ? refused.filter(isReleaseVersion) : [],
  }
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function holds(path: string, program: Buffer): boolean {
  try {
    return readOwnFile(path).equals(program)
  } catch {
    return false
  }
}
