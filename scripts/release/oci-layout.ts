import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from './archive.ts'

/** A blob of an image, as its manifest names it. */
type Descriptor = { mediaType: string; digest: string; size: number; annotations?: Record<string, string> }

/** What an image runs, of the OCI image specification's `config`. */
export type ImageConfig = {
  User: string
  Env: readonly string[]
  Cmd: readonly string[]
  WorkingDir: string
  ExposedPorts: Readonly<Record<string, object>>
  Labels: Readonly<Record<string, string>>
  StopSignal: string
  /** Docker and podman read it; the specification does not have it. Durations are nanoseconds. */
  Healthcheck: { Test: readonly string[]; Interval: number; Timeout: number; StartPeriod: number; Retries: number }
}

/**
 * Writes an image into an empty folder as an OCI image layout 1.0: one layer for each folder of `layers`, in their order, with the folder as the
 * root of its files. The same folders and time make the same bytes. `tag`: "bridgework-server:0.2.0".
 */
export async function writeOciLayout(options: {
  folder: string
  layers: readonly { folder: string; comment: string }[]
  config: ImageConfig
  architecture: string
  tag: string
  madeAt: Date
}): Promise<void> {
  const { folder, config, architecture, tag, madeAt } = options
  const blobs = join(folder, 'blobs/sha256')
  mkdirSync(blobs, { recursive: true })
  const created = madeAt.toISOString()
  const layers = []
  for (const layer of options.layers) layers.push(await writeLayer(layer.folder, blobs, madeAt))
  const writeJson = (mediaType: string, value: object): Descriptor => {
    const text = JSON.stringify(value)
    const hash = createHash('sha256').update(text).digest('hex')
    writeFileSync(join(blobs, hash), text)
    return { mediaType, digest: `sha256:${hash}`, size: Buffer.byteLength(text) }
  }
  const configBlob = writeJson('application/vnd.oci.image.config.v1+json', {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: options.layers.map(({ comment }) => ({ created, created_by: comment })),
  })
  const manifest = writeJson('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: configBlob,
    layers: layers.map(({ descriptor }) => descriptor),
  })
  const [, version = ''] = tag.split(':')
  const annotations = {
    'org.opencontainers.image.ref.name': version,
    // What `docker load` and `podman load` name the image.
    'io.containerd.image.name': `docker.io/library/${tag}`,
  }
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] }
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index))
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
}

async function writeLayer(
  source: string,
  blobs: string,
  madeAt: Date,
): Promise<{ descriptor: Descriptor; diffId: string }> {
  const plain = join(blobs, 'plain.tar')
  const packed = join(blobs, 'packed.tar.gz')
  await pack(source, plain, madeAt, { isRoot: true })
  await pipeline(createReadStream(plain), createGzip({ level: 9 }), createWriteStream(packed))
  const [diffId, hash] = [await hashOf(plain), await hashOf(packed)]
  const { size } = statSync(packed)
  rmSync(plain)
  renameSync(packed, join(blobs, hash))
  const mediaType = 'application/vnd.oci.image.layer.v1.tar+gzip'
  return { descriptor: { mediaType, digest: `sha256:${hash}`, size }, diffId: `sha256:${diffId}` }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
