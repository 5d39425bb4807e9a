import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How a server is started: flags of Node and settings of the environment. */
export type StartCommand = { flags: string[]; env: Record<string, string> }

/** What `npm start` says of memory. A server that is started in another way takes another amount. */
export function startCommand(): StartCommand {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../package.json'), 'utf8'))
  const words: string[] = scripts.start.split(' ')
  const settings = words.filter((word) => word.startsWith('MALLOC_')).map((word) => word.split('=') as [string, string])
  return { flags: words.filter((word) => word.startsWith('--')), env: Object.fromEntries(settings) }
}
