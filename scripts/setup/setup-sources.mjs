// Whether what a build is made of has changed since.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A hash of these files and folders, without what is built and installed in them. */
export function hashOf(root, sources) {
  const hash = createHash('sha256')
  for (const source of sources) addTo(hash, root, source)
  return hash.digest('hex')
}

function addTo(hash, root, path) {
  if (/\/(dist|dist\.new|node_modules|browser)$/.test(path)) return
  const full = join(root, path)
  const entries = namesIn(full)
  if (entries === null) hash.update(path).update('\0').update(readFileSync(full)).update('\0')
  else for (const name of entries.sort()) addTo(hash, root, `${path}/${name}`)
}

/** The names in a folder; null for a file. */
function namesIn(path) {
  try {
    return readdirSync(path)
  } catch (error) {
    if (error.code === 'ENOTDIR') return null
    throw error
  }
}
