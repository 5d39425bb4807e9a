import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../api-error.ts'
import { tryLock } from '../tokens/file-lock.ts'
import { writePrivate } from '../tokens/file-token-store.ts'
import { configFolder, type Environment } from './settings.ts'
import { UsageError } from './usage-error.ts'

/** Where a command that goes on for ever keeps how far it is. */
export type StateFile = {
  /** What an earlier run kept; null: nothing. */
  kept: Record<string, unknown> | null
  /** Replaces it by these members, whole or not at all; the later call wins. */
  keep: (members: object) => Promise<void>
  close: () => Promise<void>
}

/** The file of a command beside the credentials. Each choice of options goes on by itself. */
export function stateFileOf(env: Environment, command: string, options: unknown): string {
  const name = createHash('sha256').update(JSON.stringify(options)).digest('hex').slice(0, 12)
  return join(configFolder(env), `${command}-${name}.json`)
}

/** Opens the file (0600) for this process alone. Throws UsageError when another run has it, and when it is of another service or `isState` says no. */
export async function openStateFile(
  file: string,
  {
    command,
    baseUrl,
    isAnew,
    isState,
  }: { command: string; baseUrl: string; isAnew: boolean; isState: (state: Record<string, unknown>) => boolean },
): Promise<StateFile> {
  const lock = await tryLock(`${file}.lock`)
  if (!lock) throw new UsageError(`Another ${command} uses ${file}. Use another file: --state <file>`)
  try {
    const kept = isAnew ? null : await read(file)
    const other = 'Use another file, or start again with --anew.'
    if (kept && (kept.version !== 1 || !isState(kept)))
      throw new UsageError(`${file} is not a state file of ${command}. ${other}`)
    if (kept && kept.base_url !== baseUrl) throw new UsageError(`${file} belongs to ${String(kept.base_url)}. ${other}`)
    let [written, writing] = ['', Promise.resolve()]
    return {
      kept,
      keep(members) {
        const text = JSON.stringify({ version: 1, base_url: baseUrl, ...members })
        if (text !== written) writing = writing.then(() => writePrivate(file, text))
        written = text
        return writing
      },
      close: lock.release,
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The members of the state; null when there is no file. A file without a JSON object counts as empty. */
async function read(file: string): Promise<Record<string, unknown> | null> {
  try {
    return parseObject(await readFile(file, 'utf8')) ?? {}
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
