import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Finding } from '../connector.ts'
import { stateProblem } from './state-file.ts'

/** Less than this is soon full: the state of a large practice has some hundred MB. */
const freeMinBytes = 500 * 1024 * 1024

/** Free on the disk of a folder. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/**
 * Whether the state file can be written, and how much room its disk has. The file itself is not opened: a running agent has it locked, and heals a damaged
 * one at its start.
 */
export function checkState(path: string, freeMin: number = freeMinBytes): Finding[] {
  // The agent makes what is missing.
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  try {
    accessSync(existsSync(path) ? path : folder, constants.W_OK)
    accessSync(folder, constants.W_OK)
    const free = freeBytesOf(folder)
    const mb = Math.floor(free / 1024 / 1024).toLocaleString('en-US')
    if (free >= freeMin)
      return [{ outcome: 'good', what: `The state can be written (${mb} MB free on its disk).`, todo: null }]
    return [
      {
        outcome: 'wrong',
        what: `The disk of the state file ${path} has only ${mb} MB left.`,
        todo: 'Make room on it, or set another path in state_path: when it is full, nothing can be sent.',
      },
    ]
  } catch (error) {
    const problem = stateProblem(path, error)
    if (!problem) throw error
    return [{ outcome: 'wrong', what: problem.message, todo: problem.todo }]
  }
}
