import { type Backup, createBackup, restoreBackup, verifyBackup, type Work } from '../../modules/backup/backup.ts'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Answer } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import type { Context } from './context.ts'
import { beginAnew } from './database-restored.ts'
import { required, text } from './option.ts'

const input = required('<file>', 'the backup', text)

export const backup: CommandGroup = {
  help: 'encrypted backups of the whole database',
  commands: {
    create: command({
      help: 'Writes the whole database into one file, encrypted with the secret key, while the service runs.',
      act: 'backup.create',
      options: { output: required('<file>', 'the file to create; it must not exist', text) },
      run: async (context, { output }, record) => {
        // First, because a backup that fails half-way was read too, and so that the backup says where it was written.
        await withTransaction(context.pool, (client) => record(client, { file: output }))
        const data = await working(context, (work) => createBackup(context.ownerUrl, output, new Date(), work))
        return answerOf(
          data,
          `The backup is in ${output}. Keep the secret key file in another place: it opens the backup.`,
        )
      },
    }),
    verify: command({
      help: 'Reads a backup to its end and checks every table. Changes nothing.',
      act: null,
      options: { input },
      run: async (context, { input }) => {
        const data = await working(context, (work) => verifyBackup(input, work))
        return answerOf(data, 'The backup is complete and unchanged.')
      },
    }),
    restore: command({
      help: 'Restores a backup into a new, empty database of the same version, whole or not at all. Stop the server first. Agents then compare everything, and each vendor’s next delta returns every record.',
      act: 'backup.restore',
      options: { input },
      run: async (context, { input }, record) => {
        const data = await working(context, (work) =>
          restoreBackup(context.ownerUrl, input, work, async (client) => {
            const epoch = await beginAnew(client)
            await record(client, { file: input, epoch })
          }),
        )
        return answerOf(data, 'The backup is restored. Start the server.')
      },
    }),
  },
}

async function working(context: Context, run: (work: Work) => Promise<Backup>): Promise<Backup> {
  const { progress, signal } = context
  const secretKey = await context.secretKey()
  const keys = [secretKey.backupKey, ...secretKey.all().map((each) => each.backupKey)] as const
  const show = (done: number, total: number) => progress.show(done, total, 'bytes')
  return await run({ keys, signal, show }).finally(progress.end)
}

function answerOf(data: Backup, sentence: string): Answer {
  const { at, tables, rows } = data
  return { data, text: `${sentence} ${rows.toLocaleString('en-US')} rows of ${tables.length} tables, as of ${at}.` }
}
