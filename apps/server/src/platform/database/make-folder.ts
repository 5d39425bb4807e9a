import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing. True when it was not there. Throws the system's error. Node's own recursive mkdir does
 * not end where the system says ENOENT although the folder above is there, as below /proc.
 */
export function makeFolder(path: string, mode: number): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false
  if (dirname(path) !== path) makeFolder(dirname(path), mode)
  mkdirSync(path, { mode })
  return true
}
