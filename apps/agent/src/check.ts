import { type Connector, type Finding, noNotes, noZones, SourceProblem, type ZonesSet } from './connector.ts'
import { type IngestClient, IngestProblem, type NotesWanted, type WrittenByOther } from './ingest-client.ts'
import { todoFor, todoOf } from './pipeline/cycle.ts'
import { notesOf } from './pipeline/notes.ts'
import { wentBackTodo } from './pipeline/went-back.ts'
import { checkState } from './state/check-state.ts'
import type { SourceMemory } from './state/source-memory.ts'

/** Clocks further apart than this get a warning: change stamps and tokens depend on them. */
const clockToleranceMs = 2 * 60 * 1000

export type CheckDeps = {
  readonly connector: Connector
  readonly client: IngestClient
  readonly serverUrl: string
  readonly agentId: string
  readonly organizationId: string
  /** What is remembered of the source. */
  readonly memory: SourceMemory
  readonly statePath: string
  /** False: the office sends no note, whatever is granted. */
  readonly sendNotes?: boolean
  readonly now: () => Date
}

/** Asks the server and the practice management system, and compares the three clocks. One finding per question. */
export async function check(deps: CheckDeps): Promise<Finding[]> {
  const findings: Finding[] = []
  const host = new URL(deps.serverUrl).host
  let serverTime: Date | null = null
  let zones = noZones
  let writtenByOthers: readonly WrittenByOther[] = []
  let notes = noNotes
  try {
    const self = await deps.client.identify()
    serverTime = new Date(self.serverTime)
    zones = self.zones
    writtenByOthers = self.writtenByOthers
    notes = notesOf(self.notes, deps.sendNotes ?? true).read
    findings.push(good(`The server ${host} answers and knows this agent (${self.agentId}).`))
    findings.push(good(notesText(self.notes, deps.sendNotes ?? true)))
    if (self.organizationId !== deps.organizationId || self.agentId !== deps.agentId) {
      findings.push({
        outcome: 'wrong',
        what: `The key belongs to agent ${self.agentId} of organization ${self.organizationId}, but the settings name agent ${deps.agentId} of organization ${deps.organizationId}.`,
        todo: 'Ask for a new enrolment code and run "bridgework-agent enroll --replace".',
      })
    }
  } catch (error) {
    if (!(error instanceof IngestProblem)) throw error
    const what = error.kind === 'key_refused' ? `The server ${host} refuses this agent's key.` : error.errors
    findings.push({ outcome: 'wrong', what, todo: todoOf(error) })
  }
  findings.push(...checkState(deps.statePath))
  const source = await deps.connector.check(zones, notes)
  findings.push(...source.findings)
  findings.push(...(await checkCycle(deps, zones, writtenByOthers)))
  findings.push(...compareClocks({ own: deps.now(), server: serverTime, database: source.now }))
  return findings
}

const marks = { good: 'good   ', advice: 'advice ', wrong: 'WRONG  ' }

/** Prints findings as text, or one JSON object per line. Patients' values appear on a terminal alone: what is piped may end in a log. */
export function printFindings(
  findings: readonly Finding[],
  { asJson, isTerminal, print }: { asJson: boolean; isTerminal: boolean; print: (line: string) => void },
): void {
  for (const finding of findings) {
    const { outcome, what, todo, details = [] } = finding
    if (asJson) {
      print(
        JSON.stringify({
          outcome,
          what,
          todo,
          ...(details.length > 0 && { details: details.map((each) => each.what) }),
        }),
      )
      continue
    }
    print(`${marks[outcome]} ${what}${todo === null ? '' : `\n         ${todo}`}`)
    for (const detail of details)
      print(`         - ${detail.what}${isTerminal && detail.samples !== '' ? `; ${printable(detail.samples)}` : ''}`)
  }
}

/** Control characters of a file must not reach a terminal. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
}

/** Which free text of the practice's staff leaves the office. */
function notesText(wanted: readonly NotesWanted[], sendNotes: boolean): string {
  const names = [...new Set(wanted.map(({ dataset }) => dataset))].join(', ')
  if (!sendNotes)
    return `No notes are sent: "send_notes" is false.${names === '' ? '' : ` Granted are those of ${names}.`}`
  return names === ''
    ? 'No notes are sent: the practice has granted them to no vendor.'
    : `Notes are sent of ${names}: the practice has granted them to a vendor.`
}

/** What a cycle would stop at: an old copy of the source, and locations of the source at which another agent writes. */
async function checkCycle(
  { connector, memory }: CheckDeps,
  zones: ZonesSet,
  writtenByOthers: readonly WrittenByOther[],
): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    const cycle = await connector.beginCycle(zones)
    try {
      const own = new Set((await cycle.readLocations()).map((location) => location.source_id))
      for (const { sourceId, what } of writtenByOthers) {
        if (own.has(sourceId)) findings.push({ outcome: 'wrong', what, todo: todoFor('written_by_other') })
      }
      const wentBack = (await cycle.compareAge?.(memory.read().reached))?.wentBack ?? null
      if (wentBack !== null) findings.push({ outcome: 'wrong', what: wentBack, todo: wentBackTodo })
    } finally {
      await cycle.end()
    }
  } catch (error) {
    // The source's own findings say why it cannot be read.
    if (!(error instanceof SourceProblem)) throw error
  }
  return findings
}

/** The server's clock decides; without it, this computer's and the database's are compared with each other. */
export function compareClocks(clocks: { own: Date; server: Date | null; database: Date | null }): Finding[] {
  const { own, server, database } = clocks
  if (server === null && database === null) return []
  const reference = server ?? own
  const findings: Finding[] = []
  if (server !== null) findings.push(...differing('This computer', own, server, 'the server'))
  if (database !== null) {
    findings.push(
      ...differing('The database server', database, reference, server === null ? 'this computer' : 'the server'),
    )
  }
  return findings.length > 0 ? findings : [good('The clocks agree.')]
}

function differing(whose: string, clock: Date, reference: Date, than: string): Finding[] {
  const ms = clock.getTime() - reference.getTime()
  if (Math.abs(ms) <= clockToleranceMs) return []
  return [
    {
      outcome: 'wrong',
      what: `${whose}'s clock is ${duration(Math.abs(ms))} ${ms > 0 ? 'ahead of' : 'behind'} ${than}'s.`,
      todo: `Synchronize the clock of ${whose.toLowerCase()} with NTP, and check its time zone.`,
    },
  ]
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 72 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}
