import { type Connector, SourceProblem } from './connector.ts'
import type { SourceMemory } from './state/source-memory.ts'

/** A person says that the office works with a restored backup: the next cycle reads and compares everything. The exit code. */
export async function confirmRestore(deps: {
  connector: Connector
  memory: SourceMemory
  print: (line: string) => void
}): Promise<number> {
  const { connector, memory, print } = deps
  try {
    const cycle = await connector.beginCycle()
    try {
      const compared = await cycle.compareAge?.(memory.read().reached)
      if (!compared || compared.wentBack === null) {
        print('The source is the one that this agent has read, and not older. There is nothing to confirm.')
        return 0
      }
      memory.write({ reached: compared.reached, isConfirmed: true })
      print(compared.wentBack)
      print('Confirmed. The next cycle reads everything and replaces what Bridgework has by it.')
      print('Records that the source no longer has become removed; a large removal waits for a review in the portal.')
      return 0
    } finally {
      await cycle.end()
    }
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    print(`${error.message}\n  ${error.todo}`)
    return 1
  }
}
