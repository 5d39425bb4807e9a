import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { list } from 'tar'
import { configOf } from './image.ts'
import { writeOciLayout } from './oci-layout.ts'

test('an image is an OCI layout whose every hash is right, runs without rights, and is the same each time', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const make = async (name: string) => {
    const layer = join(home, `layer-${name}`)
    mkdirSync(join(layer, 'usr/bin'), { recursive: true })
    writeFileSync(join(layer, 'usr/bin/run'), 'text', { mode: 0o755 })
    const folder = join(home, name)
    mkdirSync(folder)
    await writeOciLayout({
      folder,
      layers: [{ folder: layer, comment: 'one' }],
      config: configOf('0.2.0'),
      architecture: 'amd64',
      tag: 'bridgework-server:0.2.0',
      madeAt: new Date('2026-01-02T03:04:05Z'),
    })
    return folder
  }
  const [one, other] = [await make('one'), await make('other')]

  const files = globSync('**', { cwd: one }).sort()
  assert.deepEqual(files, globSync('**', { cwd: other }).sort())
  const read = (path: string) => readFileSync(join(one, path))
  const blobs = readdirSync(join(one, 'blobs/sha256'))
  assert.equal(blobs.length, 3)
  for (const name of blobs) assert.equal(sha256(read(`blobs/sha256/${name}`)), name)

  assert.deepEqual(JSON.parse(read('oci-layout').toString()), { imageLayoutVersion: '1.0.0' })
  const blob = ({ digest, size }: { digest: string; size: number }) => {
    const bytes = read(`blobs/sha256/${digest.replace('sha256:', '')}`)
    assert.equal(bytes.length, size)
    return bytes
  }
  const index = JSON.parse(read('index.json').toString())
  assert.equal(index.manifests[0].annotations['io.containerd.image.name'], 'docker.io/library/bridgework-server:0.2.0')
  const manifest = JSON.parse(blob(index.manifests[0]).toString())
  const { config, rootfs, architecture, os } = JSON.parse(blob(manifest.config).toString())
  assert.deepEqual([architecture, os], ['amd64', 'linux'])
  assert.equal(config.User, '10001:10001')
  assert.deepEqual(config.Healthcheck.Test, ['CMD', '/usr/bin/bridgework-health'])
  const layer = gunzipSync(blob(manifest.layers[0]))
  assert.deepEqual(rootfs.diff_ids, [`sha256:${sha256(layer)}`])
  const names: string[] = []
  writeFileSync(join(home, 'layer.tar'), layer)
  await list({
    file: join(home, 'layer.tar'),
    onReadEntry: (entry) => names.push(`${entry.path} ${entry.mode?.toString(8)}`),
  })
  assert.deepEqual(names, ['usr/ 755', 'usr/bin/ 755', 'usr/bin/run 755'])
})

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
