import { chownSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'

/** What is remembered of the source itself. `reached` is the connector's text; `isConfirmed`: a person said that the source was restored. */
export type SourceRemembered = { readonly reached: string | null; readonly isConfirmed: boolean }

export type SourceMemory = ReturnType<typeof sourceMemory>

/**
 * How far the source had come when it was last read, in a small file beside the state: the state is locked while the agent runs, and `check` and
 * `confirm-restore` must read this meanwhile. It outlives a new enrolment. When it is lost, the next cycle begins a new one.
 */
export function sourceMemory(statePath: string) {
  const path = `${statePath}-source.json`
  return {
    read: (): SourceRemembered => {
      if (!existsSync(path)) return { reached: null, isConfirmed: false }
      const text = readFileSync(path, 'utf8')
      try {
        const { reached, is_confirmed } = JSON.parse(text) as Record<string, unknown>
        return { reached: typeof reached === 'string' ? reached : null, isConfirmed: is_confirmed === true }
      } catch {
        return { reached: null, isConfirmed: false }
      }
    },

    /** Whole or not at all. A person may run this as root: the file then belongs to the agent's user all the same. */
    write: ({ reached, isConfirmed }: SourceRemembered): void => {
      const temporary = `${path}.tmp`
      writeFileSync(temporary, `${JSON.stringify({ reached, is_confirmed: isConfirmed })}\n`, { mode: 0o600 })
      if (process.getuid?.() === 0 && existsSync(statePath)) {
        const { uid, gid } = statSync(statePath)
        chownSync(temporary, uid, gid)
      }
      renameSync(temporary, path)
    },
  }
}
