/** Writes what was rendered. */
export type Write = () => Promise<void>

/** The steps of a part: `prepare` asks PostgreSQL for what `render` needs, which only computes and returns what writes the part. */
type Steps<Part, Prepared> = {
  prepare: (part: Part) => Promise<Prepared>
  render: (prepared: Prepared) => Promise<Write>
}

/**
 * Takes parts one after the other over one connection. While PostgreSQL writes one part, the process renders the next; what the one after it needs
 * is asked before that is written. When a step fails, this throws after all begun ones have ended: no statement may begin after the
 * transaction's end.
 */
export async function inSteps<Part, Prepared>(
  parts: readonly Part[],
  { prepare, render }: Steps<Part, Prepared>,
): Promise<void> {
  const [first] = parts
  if (first === undefined) return
  let writing: Promise<void> = Promise.resolve()
  let prepared = prepare(first)
  try {
    for (const index of parts.keys()) {
      const now = await prepared
      const next = parts[index + 1]
      if (next !== undefined) prepared = prepare(next)
      // Errors are thrown where the promises are awaited, which others may precede.
      prepared.catch(() => {})
      const write = await render(now)
      await Promise.all([writing, prepared])
      writing = write()
      writing.catch(() => {})
    }
    await writing
  } finally {
    await Promise.allSettled([prepared, writing])
  }
}
