import { createInterface } from 'node:readline/promises'

/** Asks a person on a terminal and resolves with the line that is typed, without surrounding blanks. */
export async function ask(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  question: string,
): Promise<string> {
  const lines = createInterface({ input, output })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}
