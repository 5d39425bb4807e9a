import { archiveProgramsMissing, findArchivePrograms } from '@bridgework/server/src/acceptance/testing/test-archive.ts'
import { runTests } from '../run-tests.ts'

/** A database is destroyed under load and restored by pgBackRest, with the commands of the guide. */
export async function restoreFromArchive(): Promise<string> {
  if (findArchivePrograms(process.env) === null) throw new Error(archiveProgramsMissing)
  await runTests('apps/server/src/acceptance/archive-drill.test.ts', { BRIDGEWORK_TEST_INSTRUMENT: 'pgbackrest' })
  return 'everything archived is there, and agent and client are at the present again'
}
