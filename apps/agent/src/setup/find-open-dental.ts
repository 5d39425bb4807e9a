import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'

const settingsFile = 'FreeDentalConfig.xml'

/** The ports at which an office's MariaDB or MySQL usually answers. */
export const usualPorts = [3306, 3307, 3308] as const

/** What an installed Open Dental says of its database: where it is, or that it is reached through a middle tier only. */
export type OpenDentalFound = DatabaseFound | { readonly file: string; readonly middleTier: string }

/** Where the settings file of an Open Dental says that its database is, and as whom Open Dental uses it. */
export type DatabaseFound = {
  readonly file: string
  readonly host: string
  readonly port: number
  readonly name: string
  readonly user: string
}

/**
 * The settings files of Open Dental in these folders and in their folders whose names begin with "Open Dental". A folder or file that is
 * missing, cannot be read or names no database is passed over.
 */
export function findOpenDental(folders: readonly string[]): OpenDentalFound[] {
  return folders
    .flatMap((folder) => [folder, ...foldersOfOpenDental(folder)])
    .flatMap((folder) => settingsIn(join(folder, settingsFile)))
}

function foldersOfOpenDental(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^open ?dental/i.test(name))
      .sort()
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

function settingsIn(file: string): OpenDentalFound[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  const connection = /<DatabaseConnection>(.*?)<\/DatabaseConnection>/s.exec(text)?.[1]
  if (connection !== undefined) {
    const name = elementText(connection, 'Database')
    const [host = '', port] = elementText(connection, 'ComputerName').split(':')
    if (host === '' || name === '') return []
    const user = elementText(connection, 'User')
    return [{ file, host: isThisComputer(host) ? '127.0.0.1' : host, port: Number(port) || usualPorts[0], name, user }]
  }
  const middleTier = elementText(/<ServerConnection>(.*?)<\/ServerConnection>/s.exec(text)?.[1] ?? '', 'URI')
  return middleTier === '' ? [] : [{ file, middleTier }]
}

/** Node may take "localhost" for ::1, at which MariaDB on Windows often does not answer. */
function isThisComputer(host: string): boolean {
  return /^(localhost|\.|\(local\))$/i.test(host)
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

/** Open Dental writes five plain elements, each on a line: no need of a parser. Empty when there is none. */
function elementText(xml: string, element: string): string {
  const text = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1] ?? ''
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => entities[name] ?? '').trim()
}

/** What answers at an address: a database server with its version, or one that refuses this computer. */
export type DatabaseServer = { readonly version: string } | { readonly refuses: true }

/** Asks for nothing but the greeting with which MariaDB and MySQL begin. Null: nothing answers, or something else. */
export function findDatabaseServer(host: string, port: number, waitMs = 3000): Promise<DatabaseServer | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    let heard: Buffer = Buffer.alloc(0)
    const end = (server: DatabaseServer | null) => {
      socket.destroy()
      resolve(server)
    }
    socket.setTimeout(waitMs, () => end(null))
    socket.on('error', () => end(null))
    socket.on('close', () => end(null))
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      // Three bytes of length, a number, then 10 and the version up to a zero, or 255 and an error.
      if (heard[4] === 255) return end({ refuses: true })
      const zero = heard.indexOf(0, 5)
      if (heard.length > 4 && heard[4] !== 10) return end(null)
      if (zero > 0) end({ version: versionText(heard.toString('latin1', 5, zero)) })
      else if (heard.length > 200) end(null)
    })
  })
}

/** MariaDB puts "5.5.5-" before its own version, for old replicas. */
function versionText(greeting: string): string {
  const version = greeting.replace(/^5\.5\.5-(?=\d)/, '').replace(/[^\w.+~-]/g, '')
  return /mariadb/i.test(version) ? `MariaDB ${version.split('-')[0]}` : `MySQL ${version.split('-')[0]}`
}
