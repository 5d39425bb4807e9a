import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import type { LockFile } from './production-packages.ts'
import { nodePackage } from './server-tree.ts'

type Component = { name: string; version: string; purl: string; 'bom-ref': string }
type Bom = { serialNumber: string; metadata: Record<string, unknown>; components: Component[]; dependencies?: unknown }

/** Makes the bills of materials of artefacts that have the packages of this installation, and its Node. */
export function billsOfMaterials(root: string, madeAt: Date): (name: string, places: readonly string[]) => string {
  const listing = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64_000_000,
  })
  if (listing.status !== 0) throw new Error(`npm sbom failed: ${listing.error?.message ?? listing.stderr}`)
  const listed: Bom = JSON.parse(listing.stdout)
  const lock: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const node = JSON.parse(readFileSync(join(nodePackage(root), 'package.json'), 'utf8')).version
  const programs = [{ name: 'node', version: node, license: 'Node.js' }]
  return (name, places) => billOfMaterials(listed, lock, { name, version: releaseVersion, madeAt, places, programs })
}

/**
 * The bill of materials (CycloneDX) of an artefact: what `npm sbom` says of the packages at these places, and the programs that come with
 * them. The same artefact has the same text: its serial number comes from its content.
 */
export function billOfMaterials(
  bom: Bom,
  lock: LockFile,
  artefact: { name: string; version: string; madeAt: Date; places: readonly string[]; programs: readonly Program[] },
): string {
  const known = new Map(bom.components.map((component) => [component.purl, component]))
  const components = artefact.places.map((place) => {
    const purl = packageUrl(nameOf(place), lock.packages[place]?.version ?? '')
    const component = known.get(purl)
    if (!component) throw new Error(`npm sbom does not list ${purl}.`)
    return component
  })
  const programs = artefact.programs.map(({ name, version, license }) => ({
    'bom-ref': `${name}@${version}`,
    type: 'application',
    name,
    version,
    purl: `pkg:generic/${name}@${version}`,
    licenses: [{ license: { name: license } }],
  }))
  const all = [...new Map([...programs, ...components].map((each) => [each['bom-ref'], each])).values()]
  const { name, version, madeAt } = artefact
  const { tools } = bom.metadata
  const content = {
    ...bom,
    metadata: {
      timestamp: madeAt.toISOString(),
      tools,
      component: { 'bom-ref': `${name}@${version}`, type: 'application', name, version, licenses: apache },
    },
    components: all,
  }
  // Edges to what is not in the artefact would lead nowhere.
  delete content.dependencies
  const hash = createHash('sha256')
    .update(JSON.stringify({ ...content, serialNumber: '' }))
    .digest('hex')
  const serial = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
  return `${JSON.stringify({ ...content, serialNumber: `urn:uuid:${serial}` }, null, 2)}\n`
}

/** What comes along and is no package of npm. */
type Program = { name: string; version: string; license: string }

const apache = [{ license: { id: 'Apache-2.0' } }]

/** "@fastify/static" of "node_modules/a/node_modules/@fastify/static". */
export function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function packageUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}
