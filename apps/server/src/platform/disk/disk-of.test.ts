import assert from 'node:assert/strict'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diskOf } from './disk-of.ts'

test('a folder that was never made is measured on the disk where it would be', async () => {
  const { blocks } = await statfs(tmpdir())
  assert.equal((await diskOf(join(tmpdir(), 'never', 'made'))).blocks, blocks)
  await assert.rejects(diskOf('/dev/null/folder'), { code: 'ENOTDIR' })
})
