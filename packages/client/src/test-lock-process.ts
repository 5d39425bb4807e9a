// A process that takes a lock and lets go of it without end, until it is killed. Argument: the lock. Says `begun` on stdout.
import { withLock } from './file-lock.ts'

const [, , lock = ''] = process.argv
process.stdout.write('begun\n')
for (;;) await withLock(lock, async () => {})
