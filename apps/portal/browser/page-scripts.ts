import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { listPages } from './pages.ts'

const portal = join(import.meta.dirname, '..')

/** A file in the build's manifest. `imports`: those that it needs before it runs, by their keys. */
type Chunk = { file: string; imports?: string[] }

/**
 * Bytes of script that a browser reads to show each page for the first time, by its address: the brotli files of the entry, the frames around the
 * page, the page, and all that these import. Code that a click loads later is not in them.
 * `sources` and `built`: the folders of another version, which was built with `vite build --manifest`.
 */
export function scriptBytesOfPages(sources = join(portal, 'src'), built = join(portal, 'dist')): Map<string, number> {
  const manifest: Record<string, Chunk> = JSON.parse(readFileSync(join(built, '.vite/manifest.json'), 'utf8'))
  const sizes = new Map<string, number>()
  const sizeOf = (file: string): number => {
    const known = sizes.get(file) ?? brotliCompressSync(readFileSync(join(built, file))).length
    sizes.set(file, known)
    return known
  }
  const bytesOf = (keys: readonly string[]): number => {
    const files = new Set<string>()
    const waiting = [...keys]
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const chunk = manifest[key]
      if (!chunk) throw new Error(`${key} is not in the manifest of ${built}`)
      if (files.has(chunk.file)) continue
      files.add(chunk.file)
      waiting.push(...(chunk.imports ?? []))
    }
    return [...files].reduce((sum, file) => sum + sizeOf(file), 0)
  }
  return new Map(
    listPages(sources).map(({ address, components }) => [
      address,
      bytesOf(['index.html', ...components.map((file) => `src/${file}`)]),
    ]),
  )
}

/** 1 kB is 1,000 bytes, as browsers show it. */
export function inKilobytes(bytes: number): number {
  return Math.round(bytes / 100) / 10
}

// Prints page-scripts.json: node apps/portal/browser/page-scripts.ts [SOURCES BUILT], the folders of another version.
if (import.meta.main) {
  const [sources, built] = process.argv.slice(2)
  const pages = sources && built ? scriptBytesOfPages(sources, built) : scriptBytesOfPages()
  const kilobytes = [...pages].map(([address, bytes]) => [address, inKilobytes(bytes)])
  console.log(JSON.stringify(Object.fromEntries(kilobytes), null, 2))
}
