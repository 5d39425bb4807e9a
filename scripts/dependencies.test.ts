import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = 'docs/packages.md'
const registry = 'https://registry.npmjs.org/'

type Package = Partial<Record<'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies', object>>

test('every package that we depend on has its reason on the page of packages, and no other', () => {
  const manifests = ['package.json', ...globSync('{apps,packages}/*/package.json', { cwd: root }), 'bench/package.json']
  const used = manifests.flatMap((file) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(read(file)) as Package
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies })
  })
  const rows = read(page)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  const ours = new Set(used.filter((name) => !name.startsWith('@bridgework/')))
  assert.deepEqual(
    [...ours].filter((name) => !named.includes(name)),
    [],
    `without a reason in ${page}`,
  )
  assert.deepEqual(
    named.filter((name) => !ours.has(name ?? '')),
    [],
    `in ${page} and not used`,
  )
  assert.equal(new Set(named).size, named.length, 'each once')
})

test('every package of the lock file has a hash, and comes from the registry of .npmrc', () => {
  assert.match(read('.npmrc'), new RegExp(`^registry=${registry}$`, 'm'))
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { link?: boolean; inBundle?: boolean; integrity?: string; resolved?: string }>
  }
  const foreign = Object.entries(packages).filter(([path, { link, inBundle, integrity, resolved }]) => {
    const isOurs = !path.includes('node_modules/') || link
    if (isOurs || inBundle) return false
    return !integrity?.startsWith('sha512-') || (resolved !== undefined && !resolved.startsWith(registry))
  })
  assert.ok(Object.keys(packages).length > 300)
  assert.deepEqual(
    foreign.map(([path]) => path),
    [],
  )
})
