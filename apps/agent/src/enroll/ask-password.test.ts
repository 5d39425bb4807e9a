import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { ReadStream, WriteStream } from 'node:tty'
import { UsageError } from '@bridgework/command-line'
import { askPassword } from './ask-password.ts'

function terminal() {
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => modes.push(mode) })
  const output = new PassThrough()
  const shown: string[] = []
  output.on('data', (text) => shown.push(String(text)))
  // The two streams have what askPassword uses of a terminal.
  return {
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    typed: input,
    shown,
    modes,
  }
}

test('a password is asked for without being shown, and may be corrected while typing', async () => {
  const { input, output, typed, shown, modes } = terminal()
  const answer = askPassword(input, output, 'Password: ')
  typed.write('wrang\u007f\u007f\u007f')
  typed.write('ong é\r')
  assert.equal(await answer, 'wrong é')
  assert.equal(shown.join(''), 'Password: \n')
  assert.deepEqual(modes, [true, false])
})

test('Ctrl-C gives up, and the terminal is as before', async () => {
  const { input, output, typed, modes } = terminal()
  const answer = askPassword(input, output, 'Password: ')
  typed.write('abc\u0003')
  await assert.rejects(answer, new UsageError('Cancelled. Nothing was changed.'))
  assert.deepEqual(modes, [true, false])
})
