import type { TestContext } from 'node:test'
import pg from 'pg'
import { superuserUrl } from '../../../../apps/server/src/platform/database/testing/test-database.ts'
import { readingRole } from '../../../client/src/stores/reading-role.ts'

/** A role that reads a mirror, made by the statements that the guide has, and a connection that may grant it more. `owner`: the mirror's address. */
export async function someReader(t: TestContext, owner: string) {
  const url = new URL(owner)
  const database = url.pathname.slice(1)
  const admin = new pg.Client({ connectionString: superuserUrl(database) })
  await admin.connect()
  const role = `analyst_${database}`
  for (const statement of readingRole(role, decodeURIComponent(url.username)))
    await admin.query(statement.replace('choose one', decodeURIComponent(url.password)))
  t.after(async () => {
    await admin.query(`drop owned by ${role}; drop role ${role}`)
    await admin.end()
  })
  url.username = role
  return { url: url.href, role, admin }
}
