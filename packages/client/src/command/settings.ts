import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseObject } from '../api-error.ts'
import { Bridgework } from '../bridgework.ts'
import type { ClientEvent } from '../events.ts'
import { fileTokenStore, writePrivate } from '../tokens/file-token-store.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type Settings = { baseUrl: string; clientId: string; clientSecret: string; from: string }

/** No key pair was found, or half of one. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Where login keeps the key pair, and the token file lies. */
export function configFolder(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'bridgework')
}

export function credentialsFile(env: Environment): string {
  return join(configFolder(env), 'credentials.json')
}

/** The environment's settings, or those that login kept. The two are not mixed: half a pair of each would be none. */
export function readSettings(env: Environment): Settings {
  const { BRIDGEWORK_BASE_URL: baseUrl, BRIDGEWORK_CLIENT_ID: clientId, BRIDGEWORK_CLIENT_SECRET: clientSecret } = env
  if (clientId || clientSecret) {
    if (!baseUrl || !clientId || !clientSecret) {
      const names = 'BRIDGEWORK_BASE_URL, BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET'
      throw new SettingsError(`Set all of ${names}. Or unset the last two and run: bridgework login`)
    }
    return { baseUrl, clientId, clientSecret, from: 'the environment' }
  }
  const file = credentialsFile(env)
  const kept = readCredentials(file)
  if (!kept) throw new SettingsError('There is no key pair. Run: bridgework login')
  if (baseUrl && originOf(baseUrl) !== originOf(kept.baseUrl)) {
    // The secret would be sent to another service.
    throw new SettingsError(
      `BRIDGEWORK_BASE_URL is ${baseUrl}, but the key pair in ${file} belongs to ${kept.baseUrl}. Set BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET too, or unset BRIDGEWORK_BASE_URL, or run: bridgework login --base-url ${baseUrl}`,
    )
  }
  return { ...kept, from: file, ...(baseUrl && { baseUrl }) }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

/** Reads `base_url`, `client_id` and `client_secret` from a JSON file: ours, or the sandbox's. Null when there is none. */
export function readCredentials(file: string): Omit<Settings, 'from'> | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const { base_url: baseUrl, client_id: clientId, client_secret: clientSecret } = parseObject(text) ?? {}
  if (typeof baseUrl !== 'string' || typeof clientId !== 'string' || typeof clientSecret !== 'string') {
    throw new SettingsError(
      `base_url, client_id or client_secret is missing in ${file}. If the key pair was regenerated in the portal, put its secret there.`,
    )
  }
  return { baseUrl, clientId, clientSecret }
}

export function keepCredentials(env: Environment, { baseUrl, clientId, clientSecret }: Omit<Settings, 'from'>) {
  const content = { base_url: baseUrl, client_id: clientId, client_secret: clientSecret }
  return writePrivate(credentialsFile(env), `${JSON.stringify(content, null, 2)}\n`)
}

/** A client whose token is shared by all runs of the command. */
export function openClient(
  env: Environment,
  settings: Omit<Settings, 'from'>,
  onEvent?: (event: ClientEvent) => void,
): Bridgework {
  const tokenStore = fileTokenStore(join(configFolder(env), 'tokens.json'))
  const { baseUrl, clientId, clientSecret } = settings
  return new Bridgework({ baseUrl, clientId, clientSecret, tokenStore, ...(onEvent && { onEvent }) })
}
