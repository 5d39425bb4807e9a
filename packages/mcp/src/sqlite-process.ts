// Answers questions to a SQLite mirror, one after the other, until the process that started it ends.
import { querySqlite } from '../../client/src/stores/query-mirror.ts'

process.on('message', async ({ file, sql, values }: { file: string; sql: string; values: (string | number)[] }) => {
  process.send?.('begun')
  const answer = await querySqlite(file, sql, values).catch((error: unknown) => ({
    error: error instanceof Error ? error.message : String(error),
  }))
  process.send?.(answer)
})
