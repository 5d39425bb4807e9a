import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** The settings that hold a secret. Each can be in a file instead, which its name with `_FILE` names: containers get their secrets as files. */
const secretSettings = [
  'DATABASE_URL',
  'BRIDGEWORK_DIRECT_DATABASE_URL',
  'BRIDGEWORK_MIGRATION_DATABASE_URL',
  'BRIDGEWORK_SMTP_URL',
  'BRIDGEWORK_METRICS_TOKEN',
] as const

/** The names of the settings that name such a file. */
export const secretFileSettings: readonly string[] = secretSettings.map((name) => `${name}_FILE`)

/**
 * The settings with those that are in files, and a line for each file that cannot be used. `root` is the folder that relative paths start
 * from. No line has anything of a file's text.
 */
export function readSecretFiles(
  env: NodeJS.ProcessEnv,
  root: string,
): { settings: NodeJS.ProcessEnv; problems: string[] } {
  const settings = { ...env }
  const problems: string[] = []
  for (const name of secretSettings) {
    const file = env[`${name}_FILE`]
    if (!file) continue
    if (env[name]) {
      problems.push(`${name} and ${name}_FILE are both set. Remove one of them.`)
      continue
    }
    try {
      const text = readFileSync(resolve(root, file), 'utf8').trim()
      if (text === '') problems.push(`The file that ${name}_FILE names is empty.`)
      settings[name] = text
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'unknown'
      problems.push(`The file that ${name}_FILE names cannot be read (${code}).`)
    }
  }
  return { settings, problems }
}
