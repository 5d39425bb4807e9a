import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore, someTarget } from '../../client/src/sync/testing/test-mirror.ts'
import { openMirror } from './mirror.ts'
import { someReader } from './testing/test-reader.ts'

const endless = 'with recursive n (i) as (select 1 union all select 1 from n) select count(*) as n from n'

test('a question that would never end is ended, and the next one is answered', async (t) => {
  for (const kind of ['sqlite', 'postgres'] as const) {
    const target = await someTarget(t, kind)
    await (await openStore(kind, target)).close()
    const mirror = openMirror(kind === 'sqlite' ? `sqlite:${target}` : (await someReader(t, target)).url, 2_000)
    await assert.rejects(mirror.ask(endless), /took longer than 2 seconds. Use filters or fewer groups/)
    const [row] = (await mirror.ask('select count(*) as n from current_patients')).rows
    assert.equal(Number(row?.n), 0)
    await assert.rejects(mirror.ask('delete from patients'), /would do more than read the mirror/)
  }
})
