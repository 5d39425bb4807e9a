// Where each table is, so that practices can be spread over several servers. docs/decisions/cells.md says why.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

/**
 * `directory`: small, read everywhere, written seldom. `cell`: what belongs to a practice, beside all else of its organization. `node`: what
 * requests and processes write all the time and nobody needs to find on another server.
 */
const placeOf: Record<string, 'directory' | 'cell' | 'node'> = {
  access_grant: 'cell',
  access_request: 'cell',
  agent: 'cell',
  agent_contact: 'cell',
  agent_heartbeat: 'cell',
  agent_hour: 'cell',
  agent_number: 'cell',
  agent_problem: 'cell',
  agent_process: 'cell',
  agent_release: 'directory',
  agreement: 'directory',
  agreement_acceptance: 'directory',
  attribution_script: 'cell',
  attribution_sighting: 'cell',
  audit_event: 'directory',
  company: 'directory',
  company_domain: 'directory',
  company_former_name: 'directory',
  company_profile: 'directory',
  complete_list: 'cell',
  complete_list_missing: 'cell',
  dataset_grant: 'cell',
  dataset_state: 'cell',
  disclosed_day: 'cell',
  disclosure: 'cell',
  disclosure_drop: 'cell',
  enrolment_code: 'cell',
  identity_link: 'directory',
  identity_provider: 'directory',
  incident: 'directory',
  incident_update: 'directory',
  installation: 'directory',
  invitation: 'directory',
  key_pair: 'directory',
  key_pair_use: 'node',
  lease: 'node',
  location: 'directory',
  location_hour: 'cell',
  location_writer: 'cell',
  mail: 'node',
  membership: 'directory',
  migration: 'directory',
  note_removal: 'cell',
  notice: 'directory',
  notice_condition: 'directory',
  notice_cursor: 'directory',
  notice_setting: 'directory',
  organization: 'directory',
  packed_body: 'cell',
  portal_account: 'directory',
  portal_passkey: 'directory',
  portal_session: 'directory',
  portal_two_factor: 'directory',
  portal_user: 'directory',
  portal_verification: 'node',
  practice_head: 'cell',
  practice_seal: 'cell',
  record: 'cell',
  record_count: 'cell',
  record_reference: 'cell',
  removal: 'cell',
  removal_record: 'cell',
  rerender_work: 'cell',
  seal: 'directory',
  seal_key_change: 'directory',
  seal_mail: 'cell',
  secret_key_reader: 'directory',
  segment: 'cell',
  segment_due: 'cell',
  segment_search: 'cell',
  segment_state: 'cell',
  service_epoch: 'directory',
  service_minute: 'node',
  session_use: 'node',
  sign_in_attempt: 'node',
  sign_in_rule: 'directory',
  sign_up: 'directory',
  signing_key: 'directory',
  support_view: 'directory',
  sync_activity: 'cell',
  sync_slot: 'node',
  sync_slot_gate: 'node',
  token_attempt: 'node',
  upload: 'cell',
  used_totp: 'node',
  vendor_request: 'node',
  vendor_usage: 'node',
  webhook_attempt: 'node',
  webhook_cursor: 'node',
  webhook_delivery: 'node',
  webhook_endpoint: 'directory',
}

const server = join(import.meta.dirname, '../apps/server/src')
const schema = readFileSync(join(server, 'platform/database/schema.sql'), 'utf8')

test('every table has its place, and is in the schema of that place', () => {
  const tables = [...schema.matchAll(/^create (?:unlogged )?table (\w+)\.(\w+)/gim)].map(
    ([, place = '', name = '']) => [name, place.replace('cell_1', 'cell')],
  )
  assert.deepEqual(Object.fromEntries(tables), placeOf)
})

test('a foreign key stays in its place or leads to the directory: no other can be held across servers', () => {
  const keys = foreignKeys(schema)
  assert.ok(keys.length > 30, `${keys.length} foreign keys were found`)
  assert.deepEqual(keys.filter(crosses), [])
})

test('a key that crosses is found', () => {
  const planted =
    'create table company (\n  id uuid\n);\nalter table company add constraint c foreign key (a) references agent (id);'
  assert.deepEqual(foreignKeys(planted).filter(crosses), [{ from: 'company', to: 'agent' }])
})

const sources = globSync('**/*.ts', { cwd: server, exclude: ['**/*.test.ts', '**/testing/**'] }).map((file) => ({
  file,
  text: readFileSync(join(server, file), 'utf8'),
}))

/**
 * citusdata/citus, src/backend/distributed/planner/multi_router_planner.c: "functions used in UPDATE queries on distributed tables must not be VOLATILE",
 * "functions used in the DO UPDATE SET clause of INSERTs on distributed tables must be marked IMMUTABLE", and none in CASE or COALESCE. Tables of a node
 * are not distributed.
 */
test('what an update sets in the directory or in a cell is a value: a moment is selected first, and is no function', () => {
  const set = sources.flatMap(({ file, text }) => settingsOf(text).map((each) => ({ file, ...each })))
  assert.ok(set.length > 150, `${set.length} updates were found`)
  const moments =
    /\b(now|(clock|statement|transaction)_timestamp|random|gen_random_uuid|uuidv7|nextval)\(|current_(time|date)/
  assert.deepEqual(
    set.filter(({ table, sets }) => placeOf[table] !== 'node' && moments.test(sets)),
    [],
  )
})

test('each place in which a function is set is found', () => {
  const planted = [
    '`update agent set revoked_at = now() where id = $1`',
    "'update agent a set (x, y) = (1, clock_timestamp()) where true'",
    `update \${table} set at = \${next('now()')} where id = $1`,
    '`insert into agent (id) values (now()) on conflict (id) do update set seen = excluded.seen, at = now() where now() > at`',
    "const anew = 'at = now(), x = null'",
  ]
  assert.deepEqual(
    planted.flatMap(settingsOf).map(({ table, sets }) => `${table}: ${sets}`),
    [
      'agent: revoked_at = now()',
      'agent: (x, y) = (1, clock_timestamp())',
      `\${table}: at = \${next('now()')}`,
      'agent: seen = excluded.seen, at = now()',
      ': at = now(), x = null',
    ],
  )
})

test('a subquery of exists has a column: Citus cannot send one without to another server', () => {
  const empty = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/\bexists \(\s*select\s+from\b/g)].map(
      ({ index }) => `${file}: ${text.slice(index, index + 60)}`,
    ),
  )
  assert.deepEqual(empty, [])
})

/** What statements in a file set, with the table; parts of statements too, whose table stands elsewhere. */
function settingsOf(text: string): { table: string; sets: string }[] {
  const begins = /\bupdate (?<table>\w+|\$\{\w+\})(?: \w+)?\s+set\s|\bdo update\s+set\s|= ['`](?=\w+ = (?!.* and ))/g
  return [...text.matchAll(begins)].map(({ 0: begin, index, groups }) => {
    const before = text.slice(0, index)
    const after = text.slice(index + begin.length)
    if (begin.startsWith('=')) return { table: '', sets: after.slice(0, after.indexOf(begin.at(-1) ?? '')) }
    const inserted = [...before.matchAll(/\binsert into (\w+)/g)].at(-1)?.[1]
    return { table: groups?.table ?? inserted ?? '', sets: assignmentsIn(after) }
  })
}

/** Up to the end of the clause or of the text, at its own depth. */
function assignmentsIn(text: string): string {
  let depth = 0
  for (const { 0: found, index } of text.matchAll(/[()`]|\s(?=(?:where|from|returning)\b)/g)) {
    if (found === '(') depth += 1
    else if (found === ')') depth -= 1
    if (depth < 0 || (depth === 0 && /[`\s]/.test(found))) return text.slice(0, index).trim()
  }
  return text.trim()
}

function crosses({ from, to }: { from: string; to: string }): boolean {
  return placeOf[to] !== 'directory' && placeOf[from] !== placeOf[to]
}

function foreignKeys(sql: string): { from: string; to: string }[] {
  return sql.split(/;\s*$/m).flatMap((statement) => {
    const [, from = ''] = /^\s*(?:create (?:unlogged )?|alter )table (?:only )?(?:\w+\.)?(\w+)/im.exec(statement) ?? []
    return [...statement.matchAll(/\breferences (\w+)/gi)].map(([, to = '']) => ({ from, to }))
  })
}
