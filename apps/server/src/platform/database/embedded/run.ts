import { spawn } from 'node:child_process'
import type { Account } from './account.ts'
import { cleanEnvironment } from './environment.ts'

/** Runs a program to its end as `account`, away from our folder and environment. `output` is what it said on stdout and stderr. */
export function run(
  program: string,
  args: readonly string[],
  account: Account,
  input = '',
): Promise<{ isDone: boolean; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...account, cwd: '/', env: cleanEnvironment(), stdio: 'pipe' })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', reject)
    child.once('close', (status) => resolve({ isDone: status === 0, output }))
    // A program that ends without reading its input has said why in its output.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
