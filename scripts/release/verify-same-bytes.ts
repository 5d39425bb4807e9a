import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { note, run } from './try-out.ts'

/**
 * Makes the release once more, from a fresh clone at another path, in another time zone, by a person whose files others may not read. Every
 * artefact must have the same bytes.
 */
export function verifySameBytes(root: string, release: string, folder: string): void {
  const clone = join(folder, 'another/clone')
  run('git', ['clone', '--quiet', root, clone])
  const env = { ...process.env, TZ: 'Asia/Tokyo', LC_ALL: 'C' }
  run('sh', ['-c', 'umask 027 && npm run release'], { cwd: clone, env })
  const sums = (from: string) => readFileSync(join(from, 'SHA256SUMS'), 'utf8').trim().split('\n')
  const [first, second] = [sums(release), sums(join(clone, 'release'))]
  const others = second.filter((line) => !first.includes(line)).map((line) => line.replace(/^\S+ +/, ''))
  if (others.length > 0) throw new Error(`A second release of the commit has other bytes: ${others.join(', ')}`)
  note('bytes', `a release from another clone, time zone and mask of rights: ${second.length} files, all the same`)
}
