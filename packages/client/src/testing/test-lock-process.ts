// A process that takes a lock and lets go of it without end, until it is killed, or with `hold` keeps it. Arguments: the lock, `in turn` or `hold`.
// Says `begun` on stdout.
import { tryLock, withLock } from '../tokens/file-lock.ts'

const [, , lock = '', way = ''] = process.argv
if (way === 'hold') {
  await tryLock(lock)
  setInterval(() => {}, 1_000)
}
process.stdout.write('begun\n')
while (way !== 'hold') await withLock(lock, 1_000, async () => {})
