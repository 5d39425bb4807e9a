import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { runTests } from './run-tests.ts'

const file = 'apps/server/src/acceptance/hostile-network.test.ts'

/** Slow headers, bodies, reads and ranges by slowhttptest against the server as in production. */
export async function attackSlowly(): Promise<string> {
  requireProgram('slowhttptest', 'slowhttptest')
  await runTests(file, { BRIDGEWORK_TEST_INSTRUMENT: 'slowhttptest' })
  return 'available throughout'
}

/** All checks of testssl.sh against a server that speaks TLS itself. */
export async function examineTls(): Promise<string> {
  requireProgram('testssl', 'testssl.sh')
  await runTests(file, { BRIDGEWORK_TEST_INSTRUMENT: 'testssl' })
  return 'no finding but the certificate of the test'
}

/** Throws with the command that installs the program: only these trials need them. */
function requireProgram(name: string, debianPackage: string): void {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  if (!isThere)
    throw new Error(`${name} was not found. On Debian, run "apt-get install ${debianPackage}" and try again.`)
}
