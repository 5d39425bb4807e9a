#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { useSystemNetwork } from '../../client/src/command/network.ts'
import { openClient, readSettings, SettingsError } from '../../client/src/command/settings.ts'
import { clientVersion } from '../../client/src/version.ts'
import { openMirror } from './mirror.ts'
import { createServer, type Means } from './server.ts'

const help = `bridgework-mcp ${clientVersion}: lets an AI assistant ask a mirror of dental practices’ data

  bridgework-mcp [--to <sqlite:file | postgres://…>] [--records]

  --to <place>   the mirror, as of bridgework mirror; or BRIDGEWORK_MIRROR_TO
  --records      also single patients’ records. Without it every number is of 11 patients or more
  --version      print the version
  --help, -h     show this help

A key pair comes from BRIDGEWORK_BASE_URL, BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET, or from bridgework
login. Without a mirror it answers what may be read and how current that is; without a key pair, from the mirror.
`

try {
  const { values } = parseArgs({
    options: {
      to: { type: 'string' },
      records: { type: 'boolean', default: false },
      version: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) process.stdout.write(help)
  else if (values.version) process.stdout.write(`${clientVersion}\n`)
  else {
    const means = meansOf(values.to ?? process.env.BRIDGEWORK_MIRROR_TO, values.records)
    useSystemNetwork(process.env)
    // stdout belongs to the protocol.
    serveStdio(() => createServer(means), { onerror: (error) => process.stderr.write(`${error.message}\n`) })
  }
} catch (error) {
  const isMisspelt = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  const said = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${said}\n${isMisspelt ? 'See bridgework-mcp --help\n' : ''}`)
  process.exitCode = 2
}

function meansOf(to: string | undefined, withRecords: boolean): Means {
  const mirror = to ? openMirror(to) : null
  return { client: clientOf(mirror !== null), mirror, withRecords }
}

/** The client of the key pair that there is; where there is a mirror, none is needed. */
function clientOf(hasMirror: boolean): Means['client'] {
  try {
    return openClient(process.env, readSettings(process.env))
  } catch (error) {
    if (!(error instanceof SettingsError && hasMirror)) throw error
    return null
  }
}
