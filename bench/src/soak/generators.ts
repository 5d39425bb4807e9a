import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { otherGenerators } from '../../../packages/client/src/testing/test-generators.ts'
import { runTests } from './run-tests.ts'

const run = promisify(execFile)

/** The proxy that holds requests and answers against the document. */
const prism = '@stoplight/prism-cli@5.14.2'
/** The compiler that some of them call; the newest has another interface. */
const typescript = 'typescript@5.9.3'

/** Clients of every generator that npm has: with what they need they are 300 MB, so they are installed for this alone. */
export async function generateClients(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-generators-'))
  const packages = Object.values(otherGenerators).flatMap((generator) => generator.packages)
  const all = [...new Set([...packages, prism, typescript])]
  try {
    await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', ...all])
    await runTests('packages/client/src/openapi-generator.test.ts', { BRIDGEWORK_TEST_GENERATORS: folder })
    return Object.keys(otherGenerators).join(', ')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
