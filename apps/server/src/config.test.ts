import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { ConfigError, readConfig } from './config.ts'
import { hostsOf } from './platform/database/hosts.ts'
import { standbyGuide } from './platform/database/testing/test-replication.ts'
import { poolerGuide } from './platform/database/testing/test-settings.ts'

test('without settings the sandbox listens on loopback only and keeps its data in the project', () => {
  const config = readConfig({}, '/project')

  assert.equal(config.environment, 'sandbox')
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.publicUrl, 'http://localhost:8080')
  assert.equal(config.dataDir, '/project/.bridgework')
  assert.deepEqual([...config.previewDatasets], ['insurance_plans'])
  assert.deepEqual([config.initialLocationsMax, config.incrementalLocationsMax], [5, 25])
})

test('links lead to where the sandbox listens, unless a public address is given', () => {
  const urls = {
    '0.0.0.0': 'http://localhost:80',
    '::': 'http://localhost:80',
    '127.0.0.2': 'http://127.0.0.2:80',
    'fd00::7': 'http://[fd00::7]:80',
    'demo.example': 'http://demo.example:80',
  }
  for (const [host, url] of Object.entries(urls)) {
    const settings = { BRIDGEWORK_HOST: host, BRIDGEWORK_PORT: '80' }
    assert.equal(readConfig(settings, '/').publicUrl, url)
    const publicSettings = { ...settings, BRIDGEWORK_PUBLIC_URL: 'https://api.example.com' }
    assert.equal(readConfig(publicSettings, '/').publicUrl, 'https://api.example.com')
  }
})

test('every setting that is wrong is named at once, without its value', () => {
  const env = {
    BRIDGEWORK_PORT: 'eighty',
    BRIDGEWORK_TRUSTED_PROXIES: '10.0.0.0/33',
    BRIDGEWORK_PUBLIC_URL: 'ftp://x',
    DATABASE_URL: 'mysql://root:hunter2@x/y',
    BRIDGEWORK_PROT: '1',
  }

  assert.throws(
    () => readConfig(env, '/'),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.equal(error.problems.length, 5)
      for (const name of Object.keys(env))
        assert.ok(
          error.problems.some((line) => line.startsWith(name)),
          name,
        )
      assert.doesNotMatch(error.message, /hunter2|eighty/)
      return true
    },
  )
})

test('K14: production does not start with plain HTTP to the world, a default secret or an implied address', () => {
  assert.throws(
    () => readConfig({ BRIDGEWORK_ENVIRONMENT: 'production' }, '/'),
    (error: unknown) => error instanceof ConfigError && error.problems.length === 5,
  )
})

/** Of production, which does not run on the embedded PostgreSQL. */
const database = {
  DATABASE_URL: 'postgres://bridgework_server@db.example.com/bridgework',
  BRIDGEWORK_MIGRATION_DATABASE_URL: 'postgres://bridgework_owner@db.example.com/bridgework',
}

test('the database may have several hosts and a direct address, and one that takes no writes is no database', () => {
  const [url, directUrl] = ['postgres://r@a:5432,b:5433/d?target_session_attrs=read-write', 'postgres://r@c/d']
  const read = (env: NodeJS.ProcessEnv) => readConfig(env, '/').database
  assert.deepEqual(read({ DATABASE_URL: url, BRIDGEWORK_DIRECT_DATABASE_URL: directUrl }), {
    kind: 'server',
    ...{ url, directUrl, migrationUrl: null, migrations: 'at_start' },
  })
  assert.throws(() => read({ BRIDGEWORK_DIRECT_DATABASE_URL: directUrl }), /BRIDGEWORK_DIRECT_DATABASE_URL is set but/)
  for (const wrong of ['postgres://a:1,b:x/d', 'postgres://a/d?target_session_attrs=standby'])
    assert.throws(() => read({ DATABASE_URL: wrong }), /^Error: DATABASE_URL must be a postgres:\/\/ address/)
})

test('the addresses that the guides to a pooler and to a standby show are read', () => {
  const read = (guide: string) => {
    const [, block = ''] = /^```ini\n(DATABASE_URL=[\s\S]*?)^```$/m.exec(readFileSync(guide, 'utf8')) ?? []
    const { database } = readConfig(parseEnv(block), '/')
    return database.kind === 'server' ? database : assert.fail(guide)
  }
  const pooled = read(poolerGuide)
  assert.deepEqual(
    [pooled.url, pooled.directUrl].map((url) => new URL(url ?? '').port),
    ['6432', '5432'],
  )
  assert.equal(new URL(pooled.migrationUrl ?? '').port, '5432')
  for (const url of [read(standbyGuide).url, read(standbyGuide).migrationUrl])
    assert.deepEqual(
      hostsOf(url ?? '').map((each) => new URL(each).host),
      ['db1.example.com', 'db2.example.com:5433'],
    )
})

test('production needs a PostgreSQL that gets security updates', () => {
  const env = {
    BRIDGEWORK_ENVIRONMENT: 'production',
    BRIDGEWORK_HOST: '10.0.0.5',
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '10.0.0.1',
    BRIDGEWORK_SECRET_KEY_FILE: '/etc/bridgework/secret.key',
  }
  assert.throws(() => readConfig(env, '/'), /^Error: DATABASE_URL must be set in production: .*apt install postgresql/)
  assert.equal(readConfig({ ...env, ...database }, '/').database.kind, 'server')
  assert.equal(readConfig({}, '/').database.kind, 'embedded')
})

test('K14: production takes TLS of its own in the place of a trusted proxy, and the sandbox takes none', () => {
  const env = {
    BRIDGEWORK_ENVIRONMENT: 'production',
    ...database,
    BRIDGEWORK_HOST: '10.0.0.5',
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_SECRET_KEY_FILE: '/etc/bridgework/secret.key',
  }
  const tls = { BRIDGEWORK_TLS_CERTIFICATE_FILE: 'tls/chain.pem', BRIDGEWORK_TLS_KEY_FILE: '/tls/key.pem' }
  assert.deepEqual(readConfig({ ...env, ...tls }, '/project').tls, {
    certificateFile: '/project/tls/chain.pem',
    keyFile: '/tls/key.pem',
  })
  assert.throws(() => readConfig(env, '/'), /BRIDGEWORK_TRUSTED_PROXIES must be set .* BRIDGEWORK_TLS_CERTIFICATE_FILE/)
  for (const [name, value] of Object.entries(tls))
    assert.throws(() => readConfig({ ...env, [name]: value }, '/'), /must be set together/)
  assert.throws(() => readConfig(tls, '/'), /the sandbox speaks plain HTTP/)
})

test('metrics have an address and a token of their own, and none are open to other machines', () => {
  const token = 'x'.repeat(32)
  const metricsOf = (address: string, other: Record<string, string> = {}) =>
    readConfig({ BRIDGEWORK_METRICS_ADDRESS: address, ...other }, '/').metrics
  assert.deepEqual(readConfig({}, '/').metrics, { address: null, token: null })
  assert.deepEqual(metricsOf('127.0.0.1:9464').address, { host: '127.0.0.1', port: 9464 })
  assert.deepEqual(metricsOf('[::1]:9464').address, { host: '::1', port: 9464 })
  assert.deepEqual(metricsOf('10.0.0.5:9464', { BRIDGEWORK_METRICS_TOKEN: token }), {
    address: { host: '10.0.0.5', port: 9464 },
    token,
  })
  for (const open of ['0.0.0.0:9464', '[::]:9464', '10.0.0.5:9464', 'metrics.internal:9464'])
    assert.throws(() => metricsOf(open), /can be reached from other machines/)
  for (const wrong of ['9464', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', '::1:9464', 'http://127.0.0.1:9464'])
    assert.throws(() => metricsOf(wrong), /BRIDGEWORK_METRICS_ADDRESS must be an address and a port/)
  assert.throws(() => metricsOf('127.0.0.1:8080'), /another port than BRIDGEWORK_PORT/)
  for (const weak of ['short', 'with spaces in the middle of the text', 'x'.repeat(31)])
    assert.throws(() => readConfig({ BRIDGEWORK_METRICS_TOKEN: weak }, '/'), /32 or more characters/)
})

test('S09: production serves a preview operation only when the operator names it', () => {
  const env = {
    BRIDGEWORK_ENVIRONMENT: 'production',
    ...database,
    BRIDGEWORK_HOST: '10.0.0.5',
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    BRIDGEWORK_SECRET_KEY_FILE: '/etc/bridgework/secret.key',
  }

  assert.equal(readConfig(env, '/').previewDatasets.size, 0)
  assert.equal(readConfig({ ...env, BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans' }, '/').previewDatasets.size, 1)
  assert.throws(() => readConfig({ ...env, BRIDGEWORK_PREVIEW_OPERATIONS: 'fee_schedules' }, '/'), ConfigError)
})

test('mails go to the mail server that is named, in the sandbox without one into a folder, in production nowhere', () => {
  const production = {
    BRIDGEWORK_ENVIRONMENT: 'production',
    ...database,
    BRIDGEWORK_HOST: '10.0.0.5',
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '10.0.0.0/8',
    BRIDGEWORK_SECRET_KEY_FILE: '/etc/bridgework/secret.key',
  }
  const smtp = {
    BRIDGEWORK_SMTP_URL: 'smtp://user:hunter2@mail.example.com:587',
    BRIDGEWORK_MAIL_FROM: 'Bridgework <portal@example.com>',
  }
  assert.deepEqual(readConfig({}, '/project').mail, { kind: 'folder', dir: '/project/.bridgework/mail' })
  assert.deepEqual(readConfig(production, '/').mail, { kind: 'none' })
  const { kind } = readConfig({ ...production, ...smtp }, '/').mail
  assert.equal(kind, 'smtp')
  for (const [name, value] of Object.entries(smtp)) {
    assert.throws(() => readConfig({ [name]: value }, '/'), /must be set together/)
    assert.throws(() => readConfig({ ...smtp, [name]: 'nonsense' }, '/'), ConfigError)
  }
})

test('a shell that has the variables of the client and of the code samples starts the service too', () => {
  const root = join(import.meta.dirname, '../../..')
  const files = [
    ...globSync('packages/client/src/{,command/}*.ts', { cwd: root, exclude: (name) => /test/.test(name) }),
    'apps/server/src/apis/vendor-api/openapi/code-samples.ts',
  ]
  const names = new Set(
    files.flatMap((file) => readFileSync(join(root, file), 'utf8').match(/\bBRIDGEWORK_[A-Z_]+/g) ?? []),
  )
  assert.ok(names.has('BRIDGEWORK_CLIENT_SECRET') && names.has('BRIDGEWORK_TOKEN'), [...names].join())
  const ofPrograms = ['DATASET', 'ORGANIZATION_ID', 'LOCATION_ID', 'RECORD_ID'].map((name) => `BRIDGEWORK_${name}`)
  const env = Object.fromEntries([...names, ...ofPrograms].map((name) => [name, 'x']))
  assert.equal(readConfig(env, '/').port, 8080)
  assert.throws(
    () => readConfig({ ...env, BRIDGEWORK_CLIENT_IDS: 'x' }, '/'),
    /BRIDGEWORK_CLIENT_IDS is not a known setting/,
  )
})
