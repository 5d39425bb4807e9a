import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'node:test'

/**
 * The levels of the server, lowest first. A folder imports from itself and from what stands before it, never from what stands after it.
 * A new folder gets a place here, or the test fails.
 */
const order = [
  'platform/identity',
  'platform/disk',
  'platform/memory',
  'platform/gzip',
  'platform/log',
  'platform/errors',
  'platform/outgoing',
  'platform/database',
  'platform/loop',
  'platform/metrics',
  'platform/traces',
  'platform/http',
  'secret-settings.ts',
  'config.ts',
  'modules/mail',
  'modules/audit',
  'modules/incidents',
  'modules/directory',
  'modules/membership',
  'modules/credentials',
  'modules/sign-in',
  'modules/identity-provider',
  'modules/recovery',
  'modules/agents',
  'modules/datasets',
  'modules/attribution',
  'modules/consent',
  'modules/records/write',
  'modules/records/removals',
  'modules/records/segments',
  'modules/records/read',
  'modules/throttle',
  'modules/disclosure',
  'modules/chain',
  'modules/activity',
  'modules/usage',
  'modules/onboarding',
  'modules/overview',
  'modules/changes',
  'modules/webhooks',
  'modules/secret-key',
  'modules/live',
  'modules/notices',
  'modules/faults',
  'modules/leaving',
  'apis/attribution',
  'apis/ingest',
  'apis/vendor-api',
  'apis/sandbox',
  'apis/portal',
  'apis/portal-pages',
  'sandbox',
  'apis/operator',
  // The files beside the folders put the service together.
  '.',
]

/** Every table and the folder whose statements alone may name it. */
const tablesOf: Record<string, readonly string[]> = {
  'platform/database': ['migration'],
  'platform/loop': ['lease'],
  'modules/mail': ['mail'],
  'modules/audit': ['audit_event'],
  'modules/incidents': ['incident', 'incident_update'],
  'modules/directory': [
    'organization',
    'location',
    'company',
    'company_profile',
    'company_domain',
    'company_former_name',
  ],
  'modules/membership': ['membership', 'sign_in_rule'],
  'modules/credentials': ['agreement', 'agreement_acceptance', 'installation', 'key_pair', 'signing_key'],
  'modules/sign-in': [
    'invitation',
    'portal_account',
    'portal_passkey',
    'portal_session',
    'portal_two_factor',
    'portal_user',
    'portal_verification',
    'session_use',
    'sign_in_attempt',
    'sign_up',
    'support_view',
    'used_totp',
  ],
  'modules/identity-provider': ['identity_link', 'identity_provider'],
  'modules/agents': [
    'agent',
    'agent_contact',
    'agent_heartbeat',
    'agent_problem',
    'agent_release',
    'enrolment_code',
    'agent_number',
    'agent_process',
    'location_writer',
    'service_epoch',
  ],
  'modules/datasets': ['dataset_state', 'sync_activity'],
  'modules/attribution': ['attribution_script', 'attribution_sighting'],
  'modules/consent': ['access_grant', 'access_request', 'dataset_grant', 'note_removal'],
  'modules/records': [
    'complete_list',
    'complete_list_missing',
    'packed_body',
    'record',
    'record_count',
    'record_reference',
    'removal',
    'removal_record',
    'rerender_work',
    'segment',
    'segment_due',
    'segment_search',
    'segment_state',
    'upload',
  ],
  'modules/throttle': ['sync_slot', 'sync_slot_gate', 'token_attempt'],
  'modules/disclosure': ['disclosure', 'disclosed_day'],
  'modules/chain': ['seal', 'practice_seal', 'practice_head', 'seal_key_change', 'disclosure_drop', 'seal_mail'],
  'modules/secret-key': ['secret_key_reader'],
  'modules/activity': ['agent_hour', 'location_hour', 'service_minute'],
  'modules/notices': ['notice', 'notice_condition', 'notice_cursor', 'notice_setting'],
  'modules/webhooks': ['webhook_attempt', 'webhook_cursor', 'webhook_delivery', 'webhook_endpoint'],
  'modules/usage': ['key_pair_use', 'vendor_request', 'vendor_usage'],
}

/**
 * Read models join the tables of several modules and write nothing: the lists of `overview`, and the two statements that decide about a
 * vendor's request, which must be one statement each (one round trip, one moment, one time whatever is wrong). So must those that keep segments: a
 * dataset's stamp and its records are of one moment. So must a small delta and its disclosure, which it alone writes, and an agent's taking of a
 * location, which asks whether that agent has written there. So does what tells a company of changes, and an open page.
 */
const readModels =
  /^modules\/(overview\/.*|changes\/.*|live\/.*|consent\/read-permit\.ts|credentials\/verify-key-pair\.ts|records\/segments\/segment-(store|due)\.ts|disclosure\/small-read\.ts|agents\/location-writer\.ts)$/

/**
 * Erasing and exporting a tenant is a decision about every table, in one list that its own test compares with the schema; so is what becomes
 * of a column when the secret key is rotated. What an account can be signed in with is one
 * list for the same reason.
 */
const ofAllTables = /^modules\/(leaving\/|secret-key\/|recovery\/(means|request-beginning)\.ts$)/

const root = join(import.meta.dirname, '..')
const source = 'apps/server/src'
const files = globSync('**/*.ts', { cwd: join(root, source) })
  .filter((file) => !/(^|\/)(test-[\w-]+|[\w.-]+\.test)\.ts$/.test(file) && !file.startsWith('acceptance/'))
  .sort()

test('every folder of the server has its place in the order', () => {
  const found = new Set(files.map(folderOf))
  assert.deepEqual([...found].toSorted(), order.toSorted())
})

test('imports in the server go down the order only', () => {
  assert.deepEqual(
    files.flatMap((file) => upwardImports(file, read(file))),
    [],
  )
})

test('the order is held: an import that goes up is found', () => {
  const planted =
    "import type { Turn } from '../records/write/turn.ts'\nconst later = await import('../../apis/vendor-api/routes.ts')"
  assert.deepEqual(upwardImports('modules/audit/store.ts', planted), [
    'modules/audit/store.ts imports modules/records/write',
    'modules/audit/store.ts imports apis/vendor-api',
  ])
})

test('every table belongs to one folder', () => {
  const created = [...read('platform/database/schema.sql').matchAll(/^create (?:unlogged )?table \w+\.(\w+)/gim)]
  assert.deepEqual(created.map(([, name = '']) => name).toSorted(), Object.values(tablesOf).flat().toSorted())
})

test('a statement names the tables of its own folder alone; a read model names any, and only reads', () => {
  assert.deepEqual(
    files.flatMap((file) => foreignTables(file, read(file))),
    [],
  )
})

test('tables are kept apart: a statement on a foreign table, and a read model that writes, are found', () => {
  const planted = '// from company\nconst sql = `select name from company c join audit_event e on e.company_id = c.id`'
  assert.deepEqual(foreignTables('modules/audit/store.ts', planted), ['modules/audit/store.ts reads company'])
  assert.deepEqual(foreignTables('modules/overview/vendor.ts', "db.query('delete from company where id = $1')"), [
    'modules/overview/vendor.ts writes company',
  ])
})

/** The file or the room that the order names, else `modules/records` for a file below it, else its folder; '.' beside the folders. */
function folderOf(file: string): string {
  const named = order.find((name) => file === name || (name.split('/').length > 2 && file.startsWith(`${name}/`)))
  if (named) return named
  const [first = '', second = '', ...more] = file.split('/')
  if (/^(apis|modules|platform)$/.test(first) && (more.length > 0 || !second.endsWith('.ts')))
    return `${first}/${second}`
  return file.includes('/') ? first : '.'
}

function upwardImports(file: string, text: string): string[] {
  const imported = [...text.matchAll(/\b(?:from|import\() ?'(\.{1,2}\/[^']+\.ts)'/g)].map(([, path = '']) =>
    folderOf(normalize(join(dirname(file), path))),
  )
  return [...new Set(imported)]
    .filter((folder) => order.indexOf(folder) > order.indexOf(folderOf(file)))
    .map((folder) => `${file} imports ${folder}`)
}

function foreignTables(file: string, text: string): string[] {
  if (ofAllTables.test(file)) return []
  const own = tablesOf[file.split('/').slice(0, 2).join('/')] ?? []
  const named = literalsOf(text).flatMap((literal) =>
    [...literal.matchAll(/\b(from|join|into|update|truncate|lock table)\s+(?:only\s+)?\(?(\w+)/gi)].map(
      ([, verb = '', name = '']) => ({
        verb: verb.toLowerCase(),
        name,
        isDelete: new RegExp(`delete from ${name}\\b`, 'i').test(literal),
      }),
    ),
  )
  const found = named
    .filter(({ name }) => allTables.has(name) && !own.includes(name))
    .map(({ verb, name, isDelete }) => ({ name, writes: isDelete || !/^(from|join)$/.test(verb) }))
    .filter(({ writes }) => writes || !readModels.test(file))
  return [...new Set(found.map(({ name, writes }) => `${file} ${writes ? 'writes' : 'reads'} ${name}`))]
}

const allTables = new Set(Object.values(tablesOf).flat())

/** The strings of a file that hold SQL or a part of it; prose in comments is none. */
function literalsOf(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*(?:\/\/|--).*$/gm, '')
  const literals = [...code.matchAll(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g)].map(
    ([literal]) => literal,
  )
  return literals.filter((literal) =>
    /\b(select|insert into|update|delete from|join|truncate|lock table)\b/.test(literal),
  )
}

function read(file: string): string {
  return readFileSync(join(root, source, file), 'utf8')
}
