import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { type ProcessStart, processesBeforeMax } from '@bridgework/contract/ingest'

/** In the place of the last process that the service is known to have taken. */
const none = '-'

/**
 * The name of this start of the agent, and which processes came before it. It is kept before the service hears of it: a crash between the two leaves
 * a name too many, never one too few. Kept are the last process that the service is known to have taken, and those after it of which that is not known.
 */
export function ownProcess(
  path: string,
  setting: { read: () => string | null; write: (text: string) => void; nextUploadNumber: () => number },
) {
  const id = randomBytes(16).toString('hex')
  const computer = hostname().slice(0, 255)
  const place = createHash('sha256')
    .update(`${computer}\n${resolve(path)}`)
    .digest('hex')
    .slice(0, 16)
  const [taken = none, ...unsure] = (setting.read() ?? none).split(' ')
  const recent = unsure.slice(1 - processesBeforeMax)
  let isTaken = false
  setting.write([taken, ...recent, id].join(' '))
  return {
    /** What the agent sends at the beginning of each cycle. */
    start: (): ProcessStart => ({
      id,
      // Once the service has accepted this process, it follows no other: a process that replaces it later is another copy.
      before: isTaken ? [] : [taken, ...recent].filter((each) => each !== none),
      is_new: taken === none && !isTaken,
      next_upload: setting.nextUploadNumber(),
      place,
      computer,
    }),

    /** The service has taken it. */
    taken: (): void => {
      if (!isTaken) setting.write(id)
      isTaken = true
    },
  }
}
