import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnAgent, temporaryFolder, writeTestConfig } from '@bridgework/agent/test-agent'
import { testFamily } from '@bridgework/agent/test-family'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { Bridgework, sqliteStore } from '../../../../packages/client/src/index.ts'
import { createEnrolmentCode, enrollAgent } from '../modules/agents/agent-key.ts'
import { grantAccess } from '../modules/consent/grant.ts'
import { ensureFirstAgreement } from '../modules/credentials/agreement.ts'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { createOrganization } from '../modules/directory/organization.ts'
import { snapshot } from '../modules/leaving/testing/test-filled-tenant.ts'
import { createLocation } from '../modules/onboarding/upsert-locations.ts'
import { freePort } from '../testing/test-port.ts'
import { aPlan, someCompany, toNdjson } from '../testing/test-world.ts'
import { archiveProgramsMissing, findArchivePrograms, someArchive } from './testing/test-archive.ts'
import { someProduction } from './testing/test-production.ts'

const programs = findArchivePrograms(process.env)

if (programs === null) {
  test('F31: where pgBackRest or PostgreSQL 17 is not installed, the drill did not run and says what to install', (t) => {
    // `npm run soak -- F31` must not pass without them.
    assert.notEqual(process.env.BRIDGEWORK_TEST_INSTRUMENT, 'pgbackrest', archiveProgramsMissing)
    t.diagnostic(`NOT RUN: ${archiveProgramsMissing}`)
    assert.equal(findArchivePrograms({ BRIDGEWORK_TEST_POSTGRES_BIN: '/nonexistent' }), null)
  })
} else {
  test('F31: a database that is destroyed under load comes back from its archive, wholly or as of a moment, and from one file; agent and client follow', (t) =>
    drill(t, programs))
}

async function drill(t: TestContext, found: NonNullable<typeof programs>) {
  const secret = randomBytes(32)
  const office = await testFamily(await startTestMariaDb({ after }))
  const archive = await someArchive(t, found)
  await archive.follow('Set up', 0)
  const production = await someProduction(t, { database: archive, secret })
  const port = await freePort()
  const sealsOf = (period: string) => join(production.dataDir, `seals-${period}`)
  const start = (period: string) =>
    production.startProcess({
      BRIDGEWORK_PORT: String(port),
      BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans',
      BRIDGEWORK_SEALS_DIR: sealsOf(period),
    })
  let server = await start('first')
  const people = await someService(t, { archive, secret, office, port })
  /** In order, so that everything until now is sealed and published. */
  const restart = async () => {
    assert.equal((await server.kill('SIGTERM')).code, 0)
    server = await start('first')
  }
  await until(async () => (await people.nameInCopy('4')) === 'Dora')

  // Restarts PostgreSQL, and makes the first full backup.
  await archive.follow('Set up', 1)
  await archive.backup('incr')
  await office.update('patient', 'PatNum', 4, { FName: 'Doris' })
  await until(async () => (await people.nameInCopy('4')) === 'Doris')
  await restart()
  const moment = await archive.now()
  await office.insert('patient', { PatNum: 71, LName: 'Late', FName: 'Lena', PatStatus: 0, ClinicNum: 1, PriProv: 1 })
  await until(async () => (await people.nameInCopy('71')) === 'Lena')
  await archive.backup('incr')
  await restart()
  const [archived, seals] = [people.acknowledged(), await people.lastSeal()]
  await archive.archiveAll()
  assert.match(await archive.follow('Check', 0), /status: ok\n *cipher: aes-256-cbc\n/)
  assert.match(await archive.follow('Check', 1), /last_archived_time/)
  // What is read and sealed from now on is lost.
  await until(async () => (await people.plansInCopy()) > archived)
  await restart()
  assert.ok((await people.lastSeal()) > seals)

  await server.kill('SIGKILL')
  await archive.destroy()
  const acknowledged = await people.stopUploads()
  await archive.follow('Restore', 0)
  await archive.recovered()
  const plans = await people.storedPlans()
  t.diagnostic(
    `${acknowledged} uploads acknowledged, ${archived} of them before the last archived log; ${plans} restored`,
  )
  assert.ok(archived > 50 && plans >= archived && plans <= acknowledged + 1)
  const verify = (...seals: string[]) => production.startOperator('disclosure', 'verify', ...seals).ended
  const resume = async (period: string) => {
    const done = await production.startOperator('database', 'restored').ended
    assert.equal(done.code, 0, done.stderr)
    const own = await verify()
    assert.equal(own.code, 0, own.stdout)
    const published = await verify('--seals', sealsOf('first'))
    assert.equal(published.code, 3, published.stdout)
    assert.match(published.stdout, /Seals up to \d+ were published, and the last one here is \d+/)
    server = await start(period)
  }
  await resume('second')
  await office.update('patient', 'PatNum', 4, { FName: 'Dolly' })
  await until(async () => (await people.nameInCopy('4')) === 'Dolly')

  await server.kill('SIGKILL')
  await archive.destroy()
  await archive.follow('Restore', 1, (commands) => commands.replace(/--target="[^"]*"/, `--target="${moment}"`))
  await archive.recovered()
  assert.deepEqual(await people.storedNames(['4', '71']), ['Doris'])
  await resume('third')
  await until(async () => (await people.nameAtService('71')) === 'Lena')
  // What the second restore took back has another id now, and its earlier one leaves the copy.
  await until(async () => Object.values(await people.compare()).every((count) => count === 0))
  assert.deepEqual(await people.storedNames(['4', '71']), ['Dolly', 'Lena'])
  await people.stop()
  assert.equal((await server.kill('SIGTERM')).code, 0)
  const last = await verify('--seals', sealsOf('third'))
  assert.equal(last.code, 0, last.stdout)

  const logged = async () => [...(await snapshot(archive))].filter(([table]) => !/^(sync_slot|segment)/.test(table))
  const before = await logged()
  await archive.follow('One file', 0)
  await archive.endSessions()
  await archive.follow('One file', 1)
  assert.deepEqual(await logged(), before)
  const marked = await production.startOperator('database', 'restored').ended
  assert.equal(marked.code, 0, marked.stderr)
  const whole = await verify('--seals', sealsOf('third'))
  assert.equal(whole.code, 0, whole.stdout)
  server = await start('third')
  await until(async () => (await people.nameAtService('4')) === 'Dolly')
}

/** A practice with its office's agent, another with one that uploads all the time, and a vendor whose client copies both. */
async function someService(
  t: TestContext,
  given: {
    archive: Awaited<ReturnType<typeof someArchive>>
    secret: Buffer
    office: Awaited<ReturnType<typeof testFamily>>
    port: number
  },
) {
  const url = `http://127.0.0.1:${given.port}`
  const secretKey = createSecretKey(given.secret)
  const { pool } = given.archive
  const enrol = async (name: string) => {
    const organizationId = (await createOrganization(pool, { name })).id
    const { code } = await createEnrolmentCode(pool, secretKey, { organizationId })
    return { organizationId, agent: await enrollAgent(pool, secretKey, { code }) }
  }
  const practice = await enrol('Practice')
  const busy = await enrol('Busy practice')
  const { id: busyLocation } = await createLocation(pool, busy.organizationId, { sourceId: '1', name: 'Busy' })
  await ensureFirstAgreement(pool)
  const { company, pair } = await someCompany(pool, secretKey)
  for (const { organizationId } of [practice, busy])
    await grantAccess(pool, { companyId: company.id, organizationId, locationIds: 'all', datasets: 'all', by: 'test' })

  const folder = temporaryFolder(t)
  const { organizationId, agent } = practice
  const config = writeTestConfig(folder, { url, ...agent, organizationId }, given.office.settings, {
    time_zone: 'UTC',
    interval_seconds: 5,
  })
  const running = spawnAgent(['run', '--config', config])
  const store = await sqliteStore(join(folder, 'copy.sqlite'))
  const client = new Bridgework({ baseUrl: url, clientId: pair.clientId, clientSecret: pair.clientSecret })
  const end = new AbortController()
  const copying = (async () => {
    for (; !end.signal.aborted; await sleep(200)) await client.sync({ store, signal: end.signal }).catch(() => {})
  })()

  let [acknowledged, isUploading] = [0, true]
  const uploading = (async () => {
    while (isUploading) {
      const response = await fetch(`${url}/ingest/v1/locations/${busyLocation}/insurance_plans/records`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${busy.agent.agentKey}`,
          'content-type': 'application/x-ndjson',
          'idempotency-key': `${busy.agent.agentId}-${acknowledged + 1}`,
        },
        body: toNdjson({ [`plan-${acknowledged + 1}`]: aPlan() }),
      }).catch(() => null)
      if (response?.status === 200) acknowledged += 1
      await sleep(response?.status === 200 ? 10 : 200)
    }
  })()
  const stopUploads = async () => {
    isUploading = false
    await uploading
    return acknowledged
  }
  const stop = async () => {
    end.abort()
    running.process.kill('SIGTERM')
    await Promise.all([running.ended, copying, stopUploads()])
  }
  t.after(async () => {
    running.process.kill('SIGKILL')
    await stop()
    store.close()
  })

  const nameIn = async (records: AsyncIterable<{ attributes: Record<string, unknown> }>, sourceId: string) => {
    for await (const { attributes } of records)
      if (attributes.source_id === sourceId && !attributes.is_hidden) return attributes.first_name
    return null
  }
  const locations = async () =>
    (await pool.query<{ id: string }>('select id from location where organization_id = $1', [organizationId])).rows
  return {
    stop,
    stopUploads,
    acknowledged: () => acknowledged,
    nameInCopy: async (sourceId: string) => {
      for (const { id: locationId } of await locations()) {
        const name = await nameIn(store.read({ locationId, dataset: 'patients' }), sourceId)
        if (name) return name
      }
      return null
    },
    nameAtService: async (sourceId: string) => {
      for (const { id: locationId } of await locations()) {
        const name = await nameIn(client.patients.list({ locationId }), sourceId).catch(() => null)
        if (name) return name
      }
      return null
    },
    plansInCopy: async () =>
      (await Array.fromAsync(store.read({ locationId: busyLocation, dataset: 'insurance_plans' }))).length,
    lastSeal: async () =>
      (await pool.query<{ last: number }>('select max(number)::integer as last from seal')).rows[0]?.last ?? 0,
    /** As the database has them, before any agent was there. */
    storedPlans: async () => {
      const { rows } = await pool.query<{ source_id: string }>(
        `select source_id from record where location_id = $1 and dataset = 'insurance_plans'`,
        [busyLocation],
      )
      const numbers = rows.map(({ source_id }) => Number(source_id.slice('plan-'.length))).toSorted((a, b) => a - b)
      assert.ok(
        numbers.every((number, index) => number === index + 1),
        'a plan is missing among those that were restored',
      )
      return numbers.length
    },
    storedNames: async (sourceIds: readonly string[]) => {
      const { rows } = await pool.query<{ name: string }>(
        `select document::jsonb -> 'attributes' ->> 'first_name' as name
           from record join location on location.id = location_id
          where organization_id = $1 and dataset = 'patients' and record.source_id = any($2) order by record.source_id`,
        [organizationId, sourceIds],
      )
      return rows.map(({ name }) => name)
    },
    compare: async () => {
      const counts = { missing: 0, wrong: 0, stray: 0 }
      for (const found of await client.verify({ store, repair: false })) {
        counts.missing += found.missing
        counts.wrong += found.wrong + found.wrongRows
        counts.stray += found.stray
      }
      return counts
    },
  }
}

/** Asks again until it is so: for a minute at most. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo().catch(() => false)); tries += 1) {
    assert.ok(tries < 600, `not so after a minute: ${isSo}`)
    await sleep(100)
  }
}
