import { type SourceCycle, SourceProblem } from '../connector.ts'
import type { SourceMemory } from '../state/source-memory.ts'

/** What a person can do about a source that went back in time. */
export const wentBackTodo =
  'If this is an old copy or another database, correct the source in the settings of this agent. If the office works with a restored backup, or with a server that it moved to, run "bridgework-agent confirm-restore".'

/**
 * Before anything is sent: an agent on an old copy would overwrite what is newer. Throws a SourceProblem when the source is older than what was
 * read of it before and no person has confirmed that. Returns whether one has, so that this cycle must compare everything.
 */
export async function requireNotOlder(source: SourceCycle, memory: SourceMemory): Promise<boolean> {
  const { reached, isConfirmed } = memory.read()
  const compared = await source.compareAge?.(reached)
  if (compared === undefined) return isConfirmed
  if (compared.wentBack !== null) {
    // A table that an update has just begun to fill looks like an old one.
    await source.confirm()
    throw new SourceProblem('went_back', compared.wentBack, wentBackTodo)
  }
  if (compared.reached !== reached) memory.write({ reached: compared.reached, isConfirmed })
  return isConfirmed
}

/** The restored source was read and compared whole: nothing is left to do of what the person confirmed. */
export function finishRestore(memory: SourceMemory): void {
  const remembered = memory.read()
  if (remembered.isConfirmed) memory.write({ ...remembered, isConfirmed: false })
}
