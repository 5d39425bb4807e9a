import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Problem } from './problem.ts'

/**
 * Throws Problem `output_unusable` unless a command may create this file or folder, which it writes as `<path>.partial` first: nothing is
 * there, its folder exists, and no other command is writing it. `isBeingWritten`: the caller is.
 */
export async function requireNewPath(path: string, options: { isBeingWritten?: boolean } = {}): Promise<void> {
  if (await exists(path)) throw unusable(`${path} exists. Choose another name: nothing is overwritten.`)
  if (!(await exists(dirname(path)))) throw unusable(`The folder ${dirname(path)} does not exist. Create it first.`)
  if (options.isBeingWritten || !(await exists(`${path}.partial`))) return
  throw unusable(
    `${path}.partial exists: a command was killed, or another one is writing. If none is running, delete it and repeat.`,
  )
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  )
}

function unusable(errors: string): Problem {
  return new Problem('output_unusable', { errors })
}
