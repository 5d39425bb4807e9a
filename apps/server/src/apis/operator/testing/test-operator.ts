import assert from 'node:assert/strict'
import type { Pool } from 'pg'
import type { Config } from '../../../config.ts'
import { ensureFirstAgreement } from '../../../modules/credentials/agreement.ts'
import { requireInstallation } from '../../../modules/credentials/installation.ts'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { loadSecretKey, type SecretKeySettings } from '../../../modules/credentials/secret-key-file.ts'
import type { DisclosureEntry } from '../../../modules/disclosure/store.ts'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import { type CompanyId, type KeyPairId, type LocationId, newUuid } from '../../../platform/identity/identity.ts'
import { runOperator } from '../run.ts'

/** The secret key of the installation that the commands run on. */
export const secretKey = createSecretKey(Buffer.alloc(32, 5))

/** Runs commands on this database. `environment` and `localUrl` are those of its server; `ownerUrl`: the database, as its owner. */
export function operatorOn(
  pool: Pool,
  {
    environment = 'sandbox',
    localUrl = 'http://127.0.0.1:1',
    ownerUrl = '',
    keyFile = null,
  }: {
    environment?: Config['environment']
    localUrl?: string
    ownerUrl?: string
    /** Whose keys the commands use, in place of `secretKey`. */
    keyFile?: SecretKeySettings | null
  } = {},
) {
  const run = async (...args: string[]) => {
    const [out, err]: [string[], string[]] = [[], []]
    const code = await runOperator(args, {
      open: async () => ({
        pool,
        publicUrl: 'https://b.example',
        environment,
        localUrl,
        keyFile: keyFile ?? { secretKeyFile: null, dataDir: '' },
        signal: new AbortController().signal,
        progress: { show: () => {}, end: () => {} },
        ownerUrl,
        ask: null,
        write: async (text: string) => void out.push(text),
        say: () => {},
        secretKey: async () => {
          if (keyFile === null) return secretKey
          const ofFile = loadSecretKey(keyFile)
          await requireInstallation(pool, ofFile)
          return ofFile
        },
        close: async () => {},
      }),
      out: (text) => out.push(text),
      err: (text) => err.push(text),
    })
    return { code, out: out.join('\n'), err: err.join('\n') }
  }
  /** The JSON of a command that must succeed. */
  const ask = async (...args: string[]) => {
    const { code, out, err } = await run(...args, '--json')
    assert.equal(code, 0, err)
    return JSON.parse(out)
  }
  return { run, ask }
}

/** An installation of the test's own, on which `run` runs a command. */
export async function someOperator(t: { name?: string }, keyFile: SecretKeySettings | null = null) {
  const { pool, ownerPool, url, serverUrl } = await createTestDatabase(t)
  await ensureFirstAgreement(pool)
  return { pool, ownerPool, ownerUrl: url, serverUrl, ...operatorOn(pool, { ownerUrl: url, keyFile }) }
}

/** What is on record after a vendor compared the plans of a location with its copy. */
export function aDigest(companyId: CompanyId, locationId: LocationId): DisclosureEntry {
  return {
    companyId,
    keyPairId: newUuid<KeyPairId>(),
    locationId,
    dataset: 'insurance_plans',
    filters: {},
    coverage: { afterId: '0', lastId: '812' },
    records: 0,
    counted: null,
    notes: true,
    digested: 100,
    requestId: 'request-1',
    ip: '192.0.2.7',
  }
}
