// Packs the client, as npm would publish it, into apps/server/dist/downloads, from where the server hands it out.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { underSetupLock } from './setup-lock.mjs'
import { npmCommand, npmEnvironment } from './setup-npm.mjs'
import { hashOf } from './setup-sources.mjs'

const sources = ['packages/client', 'LICENSE', 'scripts/setup-client.mjs']

/** Throws `fail` when that does not succeed. A clone without the client's sources has nothing to pack. */
export async function packClient(root, fail) {
  const folder = join(root, 'apps/server/dist/downloads')
  if (!existsSync(join(root, 'packages/client/scripts/build.mjs')) || isPacked(root, folder)) return
  await underSetupLock(root, () => {
    if (isPacked(root, folder)) return
    console.error('Packing the client. This takes a few seconds.')
    const hash = hashOf(root, sources)
    const made = `${folder}.new`
    rmSync(made, { recursive: true, force: true })
    mkdirSync(made, { recursive: true })
    const client = join(root, 'packages/client')
    const run = (command, args) => {
      const { status, stdout } = spawnSync(command, args, {
        cwd: client,
        env: npmEnvironment(),
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 2],
      })
      if (status !== 0) throw fail('the client could not be packed; the message is above.')
      return stdout
    }
    // By ourselves: a person's npm may be set to run no scripts.
    run(join(root, 'node_modules/.bin/node'), ['scripts/build.mjs'])
    const [command, ...before] = npmCommand(root)
    const packed = run(command, [...before, 'pack', '--ignore-scripts', '--json', '--pack-destination', made])
    const name = JSON.parse(packed)[0].filename
    const sum = createHash('sha256').update(readFileSync(join(made, name)))
    writeFileSync(join(made, 'SHA256SUMS'), `${sum.digest('hex')}  ${name}\n`)
    writeFileSync(join(made, '.sources'), hash)
    rmSync(folder, { recursive: true, force: true })
    renameSync(made, folder)
  })
}

function isPacked(root, folder) {
  const mark = join(folder, '.sources')
  return existsSync(mark) && readFileSync(mark, 'utf8') === hashOf(root, sources)
}
