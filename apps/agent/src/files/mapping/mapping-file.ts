import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { type Mapping, readMapping } from './mapping.ts'
import type { SourceKind } from './mapping-schema.ts'

/** The mapping of a file, or everything that is wrong with it. `hash` tells whether it is still the same one. */
export type MappingFile = { readonly mapping: Mapping; readonly hash: string } | { readonly faults: readonly string[] }

/** Reads a mapping: TOML, or JSON when the file's name ends in .json. */
export function readMappingFile(
  path: string,
  defaultTimeZone: (locationKey: string) => string | null,
  kind: SourceKind = 'files',
): MappingFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    return { faults: [`The mapping ${path} cannot be read (${code}).`] }
  }
  const document = /\.json$/i.test(path) ? parseJson(text) : parseToml(text)
  if ('fault' in document) return { faults: [`${path}: ${document.fault}`] }
  const { mapping, faults } = readMapping(document.value, defaultTimeZone, kind)
  if (faults.length > 0) return { faults: faults.map((fault) => `${path}: ${fault}`) }
  const zones = mapping.locations.map((location) => location.time_zone)
  return { mapping, hash: createHash('sha256').update(text).update(JSON.stringify(zones)).digest('hex') }
}

type Parsed = { value: unknown } | { fault: string }

function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { fault: `is not valid JSON: ${error instanceof Error ? error.message : ''}` }
  }
}

function parseToml(text: string): Parsed {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [what] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    return { fault: `line ${error.line}, column ${error.column}: is not valid TOML: ${what}` }
  }
}
