import {
  describeRemaining,
  dropEarlierKeys,
  type RotationStatus,
  type RotationWork,
  rotateSecretKey,
  rotationStatus,
} from '../../../modules/secret-key/rotation.ts'
import type { RecordAct } from '../act.ts'
import { type Answer, table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import type { Context } from '../context.ts'

export const secretKey: CommandGroup = {
  help: 'the key that secrets in the database are made with',
  commands: {
    rotate: command({
      help: 'Replaces the secret key by a new one while the service runs. Repeat it to go on after an interruption.',
      act: 'secret_key.rotate',
      options: {},
      run: async (context, _, record) => {
        const status = await rotateSecretKey(await workOf(context, record)).finally(context.progress.end)
        return answerOf(status)
      },
    }),
    status: command({
      help: 'Shows the keys of the file, the servers that have read them, and what still needs an earlier key.',
      act: null,
      options: {},
      run: async ({ pool, secretKey }) => answerOf(await rotationStatus({ pool, secretKey: await secretKey() })),
    }),
    drop: command({
      help: 'Removes earlier keys from the file, when nothing needs them any more.',
      act: 'secret_key.drop',
      options: {},
      run: async (context, _, record) => {
        const dropped = await dropEarlierKeys(await workOf(context, record))
        const text =
          dropped === 0
            ? 'The file has only the key in use.'
            : 'Removed the earlier key from the file. Keep it with the backups of its time: they open with it alone. Servers on other machines need a copy of the file.'
        return { data: { dropped }, text }
      },
    }),
  },
}

async function workOf<Action extends 'secret_key.rotate' | 'secret_key.drop'>(
  context: Context,
  record: RecordAct<Action>,
): Promise<RotationWork<Action>> {
  const { pool, keyFile, signal, say, progress } = context
  const show = (done: number, total: number) => progress.show(done, total, 'second factors')
  return { pool, settings: keyFile, secretKey: await context.secretKey(), record, signal, say, show }
}

function answerOf(status: RotationStatus): Answer {
  const { keys, readers, remaining, isSettled } = status
  const keyTable = table(
    ['key', 'state'],
    keys.map(({ id, state }) => [id, state]),
  )
  const readerTable = table(
    ['server', 'writes with', 'has read', 'last seen'],
    readers.map((each) => [each.name, each.currentKeyId, each.keyIds.join(' '), each.seenAt]),
  )
  return {
    data: status,
    text: [keyTable, `\nServers:\n${readerTable}`, `\n${outcomeOf(status)}`].join('\n'),
    ...(isSettled &&
      remaining.length > 0 && { note: 'Look again with "secret-key status", then run "secret-key drop".' }),
  }
}

function outcomeOf({ keys, remaining, isSettled }: RotationStatus): string {
  if (keys.length === 1) return 'No rotation is under way.'
  if (!isSettled || keys.some(({ state }) => state === 'next'))
    return 'A rotation is under way. Repeat "secret-key rotate" to finish.'
  if (remaining.length === 0) return 'Nothing needs the earlier key any more. Run "secret-key drop" to remove it.'
  return ['Still need the earlier key:', ...remaining.map((each) => `  ${describeRemaining(each)}`)].join('\n')
}
