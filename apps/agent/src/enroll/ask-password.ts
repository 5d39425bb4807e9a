import type { ReadStream, WriteStream } from 'node:tty'
import { UsageError } from '@bridgework/command-line'

/** Asks on a terminal without showing what is typed. Ctrl-C cancels. */
export function askPassword(input: ReadStream, output: WriteStream, question: string): Promise<string> {
  output.write(question)
  input.setRawMode(true)
  input.setEncoding('utf8')
  input.resume()
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (settle: () => void) => {
      input.off('data', onData)
      input.setRawMode(false)
      input.pause()
      output.write('\n')
      settle()
    }
    const onData = (chunk: string) => {
      for (const character of chunk) {
        if (character === '\u0003') return end(() => reject(new UsageError('Cancelled. Nothing was changed.')))
        if (character === '\r' || character === '\n' || character === '\u0004') return end(() => resolve(typed))
        if (character === '\u007f' || character === '\b') typed = typed.slice(0, -1)
        else typed += character
      }
    }
    input.on('data', onData)
  })
}
