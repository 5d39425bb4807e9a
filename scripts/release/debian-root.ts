import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { run } from './try-out.ts'

/** Makes the root of a Debian 13 with these packages in a new folder, as root, with debootstrap. `more` adds to it before it counts as made. */
export function makeDebianRoot(place: string, packages: string[], more: (part: string) => void = () => {}): void {
  mkdirSync(dirname(place), { recursive: true })
  const part = `${place}.part`
  rmSync(part, { recursive: true, force: true })
  run('debootstrap', ['--variant=minbase', 'trixie', part, 'http://deb.debian.org/debian'])
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  if (packages.length > 0)
    run('chroot', [part, 'apt-get', 'install', '--yes', '--no-install-recommends', ...packages], { env })
  more(part)
  renameSync(part, place)
}
