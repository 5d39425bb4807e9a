import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../config-file.ts'
import { readMapping } from '../files/mapping/mapping.ts'
import { map } from '../files/propose/map.ts'
import { oneDataset } from '../files/testing/test-folder.ts'
import { findingsOnSession } from './check.ts'
import { faultsOf } from './faults.ts'
import type { SqlSettings } from './settings.ts'

const database = { engine: 'postgresql', host: 'db.office.example', user: 'reader', password: 'x', name: 'practice' }
const file = {
  server_url: 'https://bridgework.example',
  organization_id: '1',
  agent_id: '2',
  agent_key: 'bwa_x',
  connector: 'sql',
  mapping: '/m.toml',
}

function settingsOf(more: object): SqlSettings {
  const { source } = parseConfig(JSON.stringify({ ...file, database: { ...database, ...more } }), '/c.json')
  assert.equal(source.connector, 'sql')
  return source.database as SqlSettings
}

test('what leaves the computer is encrypted unless the settings say otherwise, and SQL Server always is', () => {
  assert.deepEqual(settingsOf({}).tls, { mode: 'required' })
  assert.equal(settingsOf({ tls: 'off' }).tls, null)
  assert.equal(settingsOf({ host: '127.0.0.1' }).tls, null)
  assert.deepEqual(settingsOf({ engine: 'sqlserver', host: '127.0.0.1' }).tls, { mode: 'required' })
  const refused: readonly (readonly [object, RegExp])[] = [
    [
      { ...file, database: { ...database, engine: 'oracle' } },
      /database\.engine must be one of postgresql, mysql, sqlite, sqlserver, odbc/,
    ],
    [
      { ...file, connector: 'files', files: { folder: '/f', mapping: '/m' } },
      /mapping belongs into files with connector "files"\. Move it there\./,
    ],
    [
      { ...file, connector: 'open-dental', database },
      /mapping does not belong to connector "open-dental"\. Remove it\./,
    ],
    [
      { ...file, database: { engine: 'odbc', name: 'DSN=Dental;Uid=reader; Pwd=secret' } },
      /database\.name must not contain the password\. Put it into database\.password\./,
    ],
    [{ ...file, connector: 'oracle' }, /connector must be "open-dental", "files" or "sql"\./],
    [{ ...file, files: {}, database }, /files does not belong to connector "sql"\. Remove it\./],
  ]
  for (const [document, text] of refused) assert.throws(() => parseConfig(JSON.stringify(document), '/c.json'), text)
})

test('check says who could read the connection, and what moves while the agent reads', () => {
  const said = (session: { encryption: string | null; hasSnapshot: boolean; rightsAreKnown?: boolean }, more: object) =>
    findingsOnSession({ rightsAreKnown: true, ...session }, settingsOf(more))
      .map(({ what, todo }) => `${what} ${todo ?? ''}`)
      .join(' ')
  assert.match(
    said({ encryption: null, hasSnapshot: true }, { tls: 'off' }),
    /at db\.office\.example is not encrypted: others in the network/,
  )
  assert.match(
    said({ encryption: 'TLSv1.3', hasSnapshot: true }, {}),
    /but its certificate was not verified: another computer can pose/,
  )
  assert.match(
    said({ encryption: 'TLSv1.3', hasSnapshot: true }, { tls: 'verified' }),
    /is encrypted \(TLSv1\.3\), and its certificate is verified\./,
  )
  assert.match(
    said({ encryption: null, hasSnapshot: false }, { host: '127.0.0.1', engine: 'mysql' }),
    /what changes while the agent reads is sent as it is met.* Nothing to do, unless the maker offers tables with transactions/,
  )
  assert.match(
    said({ encryption: 'TLS', hasSnapshot: false }, { engine: 'sqlserver' }),
    /If the maker agrees, run as the administrator: alter database current set allow_snapshot_isolation on;/,
  )
  assert.match(
    said({ encryption: null, hasSnapshot: false, rightsAreKnown: false }, { engine: 'odbc', name: 'Dental' }),
    /^ODBC does not tell all that the database user may do, nor whether the connection is encrypted\. See that this user can/,
  )
})

test('many kinds of errors are counted after the first ten', () => {
  const faults = faultsOf()
  for (let kind = 0; kind < 12; kind++)
    faults.add({ file: 'patients', line: null, column: `c${kind}`, rule: 'must be a date', key: String(kind) })
  assert.match(faults.takeAdvice() ?? '', /^12 rows were skipped\. .* And 2 other kinds of errors\.$/)
  assert.equal(faults.takeAdvice(), null)
  for (let kind = 0; kind < 12; kind++) faults.clear(String(kind))
  assert.equal(faults.count(), 0)
})

test('a mapping says of which location its records are', async () => {
  const locations = { a: { name: 'A' }, b: { name: 'B' } }
  const faultsOfMapping = (kind: 'files' | 'sql', more: object) => {
    const rows = kind === 'files' ? { file: 'p.csv' } : { select: 'select 1' }
    const dataset = { ...rows, key: 'no', attributes: { plan_name: 'name' }, ...more }
    return readMapping({ ...oneDataset('insurance_plans', dataset), locations }, () => 'UTC', kind).faults.join(' ')
  }
  assert.match(
    faultsOfMapping('files', {}),
    /of which location its records are: {location} in the path, location_column, or all_locations = true/,
  )
  assert.match(
    faultsOfMapping('sql', {}),
    /\.select: must say of which location its records are: location_column, or all_locations = true/,
  )
  const both = { location_column: 'o', all_locations: true }
  assert.match(faultsOfMapping('files', both), /use only one of {location}, location_column and all_locations/)
  assert.match(faultsOfMapping('sql', both), /use only one of location_column and all_locations/)
  const proposeOfDatabase = () => Promise.reject(new Error('no database'))
  const deps = { print: () => {}, isTerminal: false, timeZone: 'UTC', proposeOfDatabase }
  await assert.rejects(
    async () => map(new Map([['connector', 'oracle']]), deps),
    /--connector must be "files" or "sql"\./,
  )
})
