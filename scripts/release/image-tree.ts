// Lays out the files that the Dockerfile copies into the server's image: node scripts/release/image-tree.ts FOLDER.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billsOfMaterials } from './sbom.ts'
import { layOutServer } from './server-tree.ts'

const root = join(import.meta.dirname, '../..')
const [folder, ...more] = process.argv.slice(2)
if (!folder || more.length > 0) throw new Error('Usage: node scripts/release/image-tree.ts FOLDER')

const tree = join(folder, 'opt/bridgework')
const commands = join(folder, 'usr/bin')
for (const path of [tree, commands, join(folder, 'var/lib/bridgework')]) mkdirSync(path, { recursive: true })
// Production has a PostgreSQL of its own.
const places = await layOutServer(root, tree)
const madeAt = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000)
writeFileSync(join(tree, 'sbom.cdx.json'), billsOfMaterials(root, madeAt)('bridgework-server-image', places))
for (const name of ['bridgework-server', 'bridgework-operator'])
  symlinkSync(`/opt/bridgework/${name}`, join(commands, name))
cpSync(join(root, 'deploy/image/bridgework-health'), join(commands, 'bridgework-health'))
