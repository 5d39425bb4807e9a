import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

const url = 'postgres://server:hunter2@db.example.com/bridgework'
const ownerUrl = 'postgres://owner:hunter3@db.example.com/bridgework'
const token = 'a-token-of-at-least-32-characters-0123'

test('every setting with a secret can be in a file, whose last line may end', (t) => {
  const file = someFolder(t)
  const config = readConfig(
    {
      DATABASE_URL_FILE: file('url', `${url}\n`),
      BRIDGEWORK_MIGRATION_DATABASE_URL_FILE: file('owner', ownerUrl),
      BRIDGEWORK_SMTP_URL_FILE: file('smtp', 'smtp://user:hunter4@mail.example.com:587\r\n'),
      BRIDGEWORK_MAIL_FROM: 'portal@example.com',
      BRIDGEWORK_METRICS_TOKEN_FILE: file('token', token),
    },
    '/',
  )
  assert.deepEqual(config.database, {
    kind: 'server',
    url,
    directUrl: null,
    migrationUrl: ownerUrl,
    migrations: 'at_start',
  })
  assert.deepEqual(config.mail, {
    kind: 'smtp',
    url: 'smtp://user:hunter4@mail.example.com:587',
    from: 'portal@example.com',
  })
  assert.equal(config.metrics.token, token)
})

test('a setting that is given twice, and a file that is missing, empty or wrong, are named without their text', (t) => {
  const file = someFolder(t)
  const problems = problemsOf({
    DATABASE_URL: url,
    DATABASE_URL_FILE: file('url', url),
    BRIDGEWORK_MIGRATION_DATABASE_URL_FILE: '/nowhere/at/all',
    BRIDGEWORK_SMTP_URL_FILE: file('empty', '\n'),
    BRIDGEWORK_METRICS_TOKEN_FILE: file('token', 'hunter2'),
  })
  assert.deepEqual(problems, [
    'DATABASE_URL and DATABASE_URL_FILE are both set. Remove one of them.',
    'The file that BRIDGEWORK_MIGRATION_DATABASE_URL_FILE names cannot be read (ENOENT).',
    'The file that BRIDGEWORK_SMTP_URL_FILE names is empty.',
    'BRIDGEWORK_METRICS_TOKEN must be 32 or more characters without spaces.',
  ])
})

test('a server that does not migrate needs no connection as the owner, and a database of its own', () => {
  const env = {
    BRIDGEWORK_ENVIRONMENT: 'production',
    BRIDGEWORK_HOST: '0.0.0.0',
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '10.0.0.0/8',
    BRIDGEWORK_SECRET_KEY_FILE: '/secrets/key',
    DATABASE_URL: url,
  }
  assert.match(problemsOf(env).join(), /^BRIDGEWORK_MIGRATION_DATABASE_URL must be set in production/)
  assert.deepEqual(readConfig({ ...env, BRIDGEWORK_MIGRATIONS: 'apart' }, '/').database, {
    kind: 'server',
    url,
    directUrl: null,
    migrationUrl: null,
    migrations: 'apart',
  })
  assert.match(problemsOf({ BRIDGEWORK_MIGRATIONS: 'apart' }).join(), /^BRIDGEWORK_MIGRATIONS=apart needs DATABASE_URL/)
})

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env, '/')
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

/** Writes a file into a folder of this test, and returns its path. */
function someFolder(t: TestContext): (name: string, text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return (name, text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
}
