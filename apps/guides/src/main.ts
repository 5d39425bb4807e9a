// Builds the guides into a folder: node apps/guides/src/main.ts <folder>
import { join, resolve } from 'node:path'
import { buildSite } from './build.ts'

const [to] = process.argv.slice(2)
if (!to) throw new Error('Usage: node apps/guides/src/main.ts <folder>')
buildSite(join(import.meta.dirname, '../../..'), resolve(to))
