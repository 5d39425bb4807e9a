import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError } from '@bridgework/command-line'
import { type Cursor, readCursor, sealedLines, writeCursor } from '../../../modules/chain/sealed-lines.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { flag, optional } from '../option.ts'

/** How often `--follow` looks for a new seal; there is one a minute. */
const followMs = 5_000

export const audit: CommandGroup = {
  help: 'acts and disclosures, for other programs',
  commands: {
    export: command({
      help: 'Writes acts and disclosures that are sealed, as lines of JSON with ids and without patients’ values. Each line has the cursor to go on after it.',
      act: null,
      options: {
        after: optional('<cursor>', 'only what comes after this line; without it from the beginning', cursor),
        follow: flag('go on with what is new, until SIGTERM or Ctrl-C'),
      },
      run: async ({ pool, signal, say, write }, { after = null, follow = false }) => {
        let [last, count] = [after, 0]
        do {
          for await (const lines of sealedLines(pool, last)) {
            if (signal.aborted) break
            await write(lines.text)
            last = lines.cursor
            count += lines.count
          }
          if (follow) await sleep(followMs, undefined, { signal }).catch(() => {})
        } while (follow && !signal.aborted)
        const next = last === null ? '' : ` Go on with --after ${writeCursor(last)}`
        say(`Wrote ${count.toLocaleString('en-US')} ${count === 1 ? 'line' : 'lines'}.${next}`)
        return null
      },
    }),
  },
}

function cursor(text: string): Cursor {
  const read = readCursor(text)
  if (read === null) throw new InvalidArgumentError('must be the cursor of a line, as in 12-0123456789abcdef-34-56.')
  return read
}
