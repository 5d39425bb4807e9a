import { isTimeZone } from '@bridgework/contract'
import { type Connector, SourceProblem, timeZoneTodo } from '../connector.ts'
import { type IngestClient, IngestProblem } from '../ingest-client.ts'

export type TimeZoneDeps = {
  /** Asks a person; null when there is no terminal. */
  readonly ask: ((question: string) => Promise<string>) | null
  readonly print: (line: string) => void
}

/**
 * The time zone that a person enters when neither Bridgework nor the practice's data has it; null when it is known, or without an answer.
 * What cannot be reached now is no reason to fail: the agent is enrolled, and "check" and every cycle look again.
 */
export async function askTimeZone(
  client: IngestClient,
  connector: Connector,
  deps: TimeZoneDeps,
): Promise<string | null> {
  const names = await locationsWithoutZone(client, connector)
  if (names.length === 0) return null
  deps.print(`The time zone of ${names.join(', ')} is not known, and nothing is read without it.`)
  for (let tries = 0; deps.ask !== null && tries < triesMax; tries++) {
    const answer = await deps.ask('Time zone of the practice, as America/Chicago (empty: set it later): ')
    if (isTimeZone(answer)) return answer
    if (answer === '') break
    deps.print(`"${answer}" is not a name of the IANA time zone database.`)
  }
  deps.print(timeZoneTodo)
  return null
}

const triesMax = 5

async function locationsWithoutZone(client: IngestClient, connector: Connector): Promise<string[]> {
  try {
    const { zones } = await client.identify()
    const cycle = await connector.beginCycle(zones)
    try {
      const locations = await cycle.readLocations()
      return locations.filter((location) => location.time_zone === null).map((location) => location.name)
    } finally {
      await cycle.end()
    }
  } catch (error) {
    if (error instanceof SourceProblem || error instanceof IngestProblem) return []
    throw error
  }
}
