import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Message, messagesOf, type Shown, testFinder } from './agent-messages.ts'

const root = join(import.meta.dirname, '..')
const page = join(root, 'docs/operate/agent-messages.md')

const messages = messagesOf(root)
const testOf = testFinder(root, messages)
const shown = messages.map((message) => ({ ...message, test: testOf(message) }))

test('every message of the agent is shown by a test', () => {
  assert.ok(messages.length > 300)
  assert.deepEqual(
    shown.filter((message) => message.test === undefined).map(({ file, text }) => `${file}: ${text}`),
    [],
    'let a test make each of these messages appear, and hold at least four consecutive words of it',
  )
})

test('docs/operate/agent-messages.md lists every message with its test', () => {
  const text = pageOf(shown)
  if (process.env.BRIDGEWORK_TEST_UPDATE === '1') writeFileSync(page, text)
  assert.equal(
    text,
    readFileSync(page, 'utf8'),
    'after a change of a message or its test: BRIDGEWORK_TEST_UPDATE=1 npm test -- scripts/agent-messages.test.ts',
  )
})

/** By what a message is about; the first that fits. */
const areas: readonly (readonly [title: string, file: RegExp])[] = [
  ['Settings and enrolment', /^(config-file|command-line|main)\.ts$|^enroll\//],
  ['Set-up', /^setup\//],
  ['Server and agent', /^check\.ts$|^pipeline\//],
  ['Network', /^network\/|^ingest-client\.ts$/],
  ['Time zones', /^open-dental\/time\/|^connector\.ts$/],
  ['Database', /^open-dental\//],
  ['SQL databases', /^sql\//],
  ['Export files', /^files\//],
  ['Test of a connector', /^connector-test\//],
  ['State', /^state\/|^confirm-restore\.ts$/],
  ['Updates', /^launcher\//],
  ['Progress and log', /^progress\.ts$/],
  ['Status page', /^status\//],
]

const rowLengthMax = 300
const titleLengthMax = 110

function pageOf(all: readonly (Message & { test: Shown | undefined })[]): string {
  const areaOf = ({ file }: Message) => areas.find(([, pattern]) => pattern.test(file))?.[0] ?? 'Other'
  const byArea = Map.groupBy(all, areaOf)
  const sections = [...areas.map(([title]) => title), 'Other'].flatMap((title) => {
    const rows = (byArea.get(title) ?? []).map(rowOf)
    return rows.length === 0 ? [] : [`## ${title}\n\n| Message | Tested in |\n| --- | --- |\n${rows.join('\n')}\n`]
  })
  return `# Messages of the agent

What the agent prints at an office: its commands \`setup\`, \`enroll\`, \`configure\`, \`map\`, \`check\` and \`run\`, its log
and its status page.
Search this page for the words that a person reads to you. "…" stands for what the agent fills in, and a row ends with
"(cut)" where its message is longer. The second column names the test that makes the message appear.
Made by \`scripts/agent-messages.test.ts\`.

${sections.join('\n')}`
}

function rowOf({ text, test: by }: Message & { test: Shown | undefined }): string {
  const where = by === undefined ? 'no test' : `${by.file}: ${cut(escaped(by.title), titleLengthMax)}`
  return `| ${cut(escaped(text), rowLengthMax - where.length - '|  |  |'.length)} | ${where} |`
}

/** Cut between two words. */
function cut(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const mark = ' (cut)'
  return text.slice(0, text.lastIndexOf(' ', lengthMax - mark.length)) + mark
}

function escaped(text: string): string {
  return text.replace(/[\\|<*_`[\]]/g, '\\$&')
}
