import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a newcomer or a script needs to make the first call. Read by others: members are added, never renamed. */
export type SandboxFile = {
  base_url: string
  client_id: string
  /** Null: the key pair was regenerated in the portal, where its secret was shown. */
  client_secret: string | null
  organization_id: number
  granted_location_ids: number[]
  ungranted_location_ids: number[]
  agent_key: string
  /** People of the demo and their passwords for the portal. */
  portal_sign_ins: { role: string; email: string; password: string }[]
}

const name = 'sandbox.json'

/** What an earlier start wrote; empty when there is nothing that can be read. */
export function readSandboxFile(dataDir: string): Partial<SandboxFile> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dataDir, name), 'utf8'))
    if (typeof value !== 'object' || value === null) return {}
    // Written by ourselves; what it says is checked against the database before it is used.
    return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as Partial<SandboxFile>
  } catch {
    return {}
  }
}

/** Written aside and renamed, so that a reader or a crash never meets half a file. Mode 0600: it holds secrets. A start that is under way writes what it has. */
export function writeSandboxFile(dataDir: string, file: Partial<SandboxFile>): void {
  const path = join(dataDir, name)
  writeFileSync(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
