import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { type Static, type TSchema, Type } from 'typebox'
import type { Bridgework } from '../../client/src/bridgework.ts'
import { clientVersion } from '../../client/src/version.ts'
import { textOf, untrusted } from './answer.ts'
import { describeSources } from './describe.ts'
import { listFreshness, listLocations } from './directory.ts'
import type { Mirror } from './mirror.ts'
import { askGroups, askRecords, GroupedQuery, type Query, RecordQuery } from './query.ts'
import { peopleMin } from './small-groups.ts'

/** What the server answers from: a key pair, a mirror, or both. `withRecords`: also single patients' records. */
export type Means = { client: Bridgework | null; mirror: Mirror | null; withRecords: boolean }

const Nothing = Type.Object({}, { additionalProperties: false })
const Description = Type.Object(
  { source: Type.Optional(Type.String({ description: 'Its columns; left out: the names of all' })) },
  { additionalProperties: false },
)

/** A server of the Model Context Protocol with the tools that these means allow. All of them only read. */
export function createServer({ client, mirror, withRecords }: Means): McpServer {
  const server = new McpServer(
    { name: 'bridgework', version: clientVersion },
    { instructions: `Data of dental practices, copied from Bridgework. ${untrusted}` },
  )
  const add = <Schema extends TSchema>(
    name: string,
    title: string,
    description: string,
    schema: Schema,
    answer: (asked: Static<Schema>) => Promise<Parameters<typeof textOf>[0]>,
  ) =>
    server.registerTool(
      name,
      {
        title,
        description: `${description} ${untrusted}`,
        inputSchema: fromJsonSchema<Static<Schema>>(schema),
        annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
      },
      async (asked) => {
        try {
          return { content: [{ type: 'text', text: textOf(await answer(asked)) }] }
        } catch (error) {
          return {
            content: [{ type: 'text', text: error instanceof Error ? error.message : String(error) }],
            isError: true,
          }
        }
      },
    )
  add(
    'locations',
    'Locations',
    'The locations of practices that may be read, and which datasets of each.',
    Nothing,
    () => listLocations(client, mirror),
  )
  add(
    'freshness',
    'Freshness',
    'How current each dataset of each location is, at the service and in the mirror; removals that wait for a person at the practice (removal_held), a practice that has gone silent, and access that has ended. Look here before you trust a number.',
    Nothing,
    () => listFreshness(client, mirror),
  )
  if (!mirror) return server
  add(
    'describe',
    'What can be asked',
    'The sources that query can ask, or the columns of one with what each holds and its unit.',
    Description,
    ({ source }) => describeSources(mirror, withRecords, source),
  )
  if (withRecords)
    add(
      'query',
      'Ask the mirror',
      'Groups with measures, or rows with columns, of one table or view of the mirror. Answers can hold the data of single patients: show only what was asked for.',
      RecordQuery,
      (asked) => askRecords(mirror, asked as Query),
    )
  else
    add(
      'query',
      'Ask the mirror',
      `Groups with measures of one source of the mirror. A number of 1 to ${peopleMin - 1} patients is not told, and sometimes another one that would betray it: the cell is null, or the group is left out and counted in hidden_groups. Do not try to work out hidden numbers. Single patients cannot be asked for.`,
      GroupedQuery,
      (asked) => askGroups(mirror, asked as Query),
    )
  return server
}
