import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { releaseVersion } from '../../packages/contract/src/release.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))

test('everything in the repository has the version of the release', () => {
  const manifests = ['package.json', 'bench/package.json', ...globSync('{apps,packages}/*/package.json', { cwd: root })]
  assert.equal(manifests.length, 11)
  for (const path of manifests) assert.equal(read(path).version, releaseVersion, path)
  const { version, packages } = read('package-lock.json')
  assert.equal(version, releaseVersion)
  for (const path of manifests.map((manifest) => manifest.replace(/\/?package\.json$/, ''))) {
    assert.equal(packages[path].version, releaseVersion, `package-lock.json: "${path}"`)
  }
})
