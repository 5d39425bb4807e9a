import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { childrenOf, type Node } from './mutate/syntax.ts'

/** A sentence of the agent for a person; `…` stands for what is filled in. */
export type Message = { readonly file: string; readonly text: string }

/** A test: the texts and patterns that its source holds, as words. A `…` among them separates what is not one text. */
export type Shown = { readonly file: string; readonly title: string; readonly words: string; readonly length: number }

const source = 'apps/agent/src'
const filled = '…'
const wordsMin = 4

/** Texts of at least four words that are no messages, and why. A `throw new Error(…)` is none either: a fault of the agent itself. */
const leftOut: readonly { readonly because: string; readonly file: RegExp; readonly text: RegExp }[] = [
  { because: 'descriptions of options, which --help shows', file: /^command-line\.ts$/, text: /./ },
  { because: 'descriptions of settings, which editors show', file: /^files\/mapping\/mapping-schema\.ts$/, text: /./ },
  { because: 'columns that are read', file: /^open-dental\/changes\/(source-tables|tables-read)\.ts$/, text: /./ },
  { because: 'lists of time zones', file: /^open-dental\/time\/(postal|windows)-zones\.ts$/, text: /./ },
  { because: 'the page around the status', file: /^status\/page\.ts$/, text: /^\s*(<|body \{)/ },
  {
    because: 'SQL',
    file: /./,
    text: /^\s*\(?(select|insert|update|delete|drop|show|set session|pragma|with|from|where|\w+ join)\b/,
  },
  { because: 'SQL', file: /^state\//, text: /^\s*create table/ },
  {
    because: 'SQL',
    file: /^open-dental\//,
    text: /<>|\w (not )?in \(|\b(round|cast|coalesce)\(| as (first|born)\b|\w\.[A-Z]\w+ [*=]/,
  },
  { because: 'SQL', file: /^sql\/engines\//, text: /^\s*(begin|start|declare|set|convert)\b/ },
  { because: 'a regular expression', file: /^sql\/engines\//, text: /^\^/ },
  { because: 'a regular expression', file: /./, text: /\(\?<|\(\w+\|\w+/ },
]

/** Every message in the agent's code, in order of file and place, each once per file. */
export function messagesOf(root: string): Message[] {
  const files = globSync(`${source}/**/*.ts`, { cwd: root, exclude: ['**/*.test.ts', '**/testing/**', '**/demo/**'] })
  return files.sort().flatMap((path) => {
    const file = path.slice(source.length + 1)
    const texts = new Set(textsIn(parsed(root, path)).filter(isSentence))
    return [...texts]
      .filter((text) => !leftOut.some((each) => each.file.test(file) && each.text.test(text)))
      .map((text) => ({ file, text: text.replace(/\s+/g, ' ').trim() }))
  })
}

/**
 * Finds the test that shows a message: one that holds four consecutive words of it, such as no other message has if there are any; of a
 * message without four words between two placeholders it holds every part. A test beside the message's code comes first, then the first by
 * name of file, and of nested tests the inner one.
 */
export function testFinder(root: string, messages: readonly Message[]): (message: Message) => Shown | undefined {
  const files = globSync('{apps/agent,apps/server/src/acceptance,packages,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**', 'scripts/agent-messages.test.ts'],
  }).sort()
  const tests = files.flatMap((file) => testsIn(file, parsed(root, file)))
  const timesSaid = new Map<string, number>()
  for (const text of new Set(messages.map((message) => message.text))) {
    for (const run of new Set(runsOf(text))) timesSaid.set(run, (timesSaid.get(run) ?? 0) + 1)
  }
  return ({ file, text }) => {
    const runs = runsOf(text)
    const own = runs.filter((run) => timesSaid.get(run) === 1)
    const parts = partsOf(text).map((part) => part.join(' '))
    const isShown = ({ words }: Shown) => {
      const holds = (run: string) => words.includes(` ${run} `)
      return runs.length === 0 ? parts.every(holds) : (own.length > 0 ? own : runs).some(holds)
    }
    const beside = dirname(join(source, file))
    const showing = tests.filter(isShown)
    const first = showing.find((each) => dirname(each.file) === beside) ?? showing[0]
    return showing.filter((each) => each.file === first?.file).toSorted((a, b) => a.length - b.length)[0]
  }
}

/** Runs of four consecutive words; none where every part between two placeholders has fewer. */
function runsOf(text: string): string[] {
  return partsOf(text).flatMap((part) =>
    part.slice(wordsMin - 1).map((_, index) => part.slice(index, index + wordsMin).join(' ')),
  )
}

/** The words between the placeholders, without those of which a placeholder is a part: "…'s clock". */
function partsOf(text: string): string[][] {
  const parts = text.split(filled)
  return parts.flatMap((part, index) => {
    const after = index > 0 ? part.replace(/^\S+/, '') : part
    const words = wordsOf(index < parts.length - 1 ? after.replace(/\S+$/, '') : after)
    return words.length > 0 ? [words] : []
  })
}

/** In lower case and without punctuation: "computer’s" is one word. */
function wordsOf(text: string): string[] {
  return (
    text
      .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

function isSentence(text: string): boolean {
  return /\S\s/.test(text) && wordsOf(text).filter((word) => /^\p{L}+$/u.test(word)).length >= wordsMin
}

function parsed(root: string, file: string): Node {
  const { program, errors } = parseSync(file, readFileSync(join(root, file), 'utf8'))
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  return program as unknown as Node
}

/** The strings and templates of the code, not names of modules and properties; texts within a template's placeholders are texts of their own. */
function textsIn(node: Node): string[] {
  if (/^(Import|ExportAll)/.test(node.type) || isFaultOfOurs(node)) return []
  const text =
    node.type === 'TemplateLiteral'
      ? (node.quasis as Node[]).map((quasi) => (quasi.value as { cooked: string }).cooked).join(filled)
      : node.type === 'Literal' && typeof node.value === 'string'
        ? node.value
        : null
  const children = node.type === 'Property' ? [node.value as Node] : childrenOf(node)
  return [...(text === null ? [] : [text]), ...children.flatMap(textsIn)]
}

/** `throw new Error(…)`. What people are told of has an error with a name of its own. */
function isFaultOfOurs({ type, argument }: Node): boolean {
  return type === 'ThrowStatement' && ((argument as Node).callee as Node | undefined)?.name === 'Error'
}

/** The tests of a file, each with what it names of the constants and functions at the top of the file. */
function testsIn(file: string, program: Node): Shown[] {
  const atTop = new Map<string, Node>()
  for (const statement of program.body as Node[]) {
    for (const declared of (statement.declarations as Node[] | undefined) ?? [statement]) {
      const name = (declared.id as Node | undefined)?.name
      if (typeof name === 'string') atTop.set(name, declared)
    }
  }
  return within(program)
    .filter(isTest)
    .map((call) => {
      const [title, ...rest] = call.arguments as Node[]
      const used = new Set(rest)
      for (const each of used) {
        for (const { type, name } of within(each)) {
          const named = type === 'Identifier' ? atTop.get(String(name)) : undefined
          if (named !== undefined) used.add(named)
        }
      }
      const texts = [...used].flatMap((each) => within(each).flatMap(shownText))
      return {
        file,
        title: title === undefined ? '' : (shownText(title)[0] ?? ''),
        words: ` ${texts
          .map((text) =>
            text
              .split(filled)
              .map((part) => wordsOf(part).join(' '))
              .join(` ${filled} `),
          )
          .join(` ${filled} `)} `,
        length: call.end - call.start,
      }
    })
}

/** `test('…', …)`, `it('…', …)` and `t.test('…', …)`. */
function isTest(node: Node): boolean {
  if (node.type !== 'CallExpression' || (node.arguments as Node[]).length < 2) return false
  const callee = node.callee as Node
  const name = callee.type === 'MemberExpression' ? (callee.property as Node).name : callee.name
  return name === 'test' || name === 'it'
}

function within(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(within)]
}

/** A text as it stands, and a pattern as the text that it matches; `…` where the pattern leaves open what stands there. */
function shownText(node: Node): string[] {
  const { regex } = node as { regex?: { pattern: string } }
  if (regex !== undefined) {
    return [regex.pattern.replace(/\\[dDsSwWbB]|\[[^\]]*\]|\.[*+?]|[|^$]/g, filled).replace(/\\(.)/g, '$1')]
  }
  if (node.type === 'TemplateLiteral') {
    return [(node.quasis as Node[]).map((quasi) => (quasi.value as { cooked: string }).cooked).join(filled)]
  }
  return node.type === 'Literal' && typeof node.value === 'string' ? [node.value] : []
}
