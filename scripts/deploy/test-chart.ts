import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'

type Scope = { dot: unknown; variables: Readonly<Record<string, unknown>> }
type Part = { text: string } | { action: string; inner: Part[] }

/**
 * Renders the templates of a Helm chart, without Helm: what Go's text/template does with the few actions that our chart uses. Throws at any
 * other.
 */
export function renderChart(chart: string, data: object): string[] {
  const files = globSync('templates/*', { cwd: chart }).sort()
  const defined = new Map<string, Part[]>()
  const parsed = files.map((file) => ({ file, parts: parse(readFileSync(join(chart, file), 'utf8')) }))
  for (const part of parsed.flatMap(({ parts }) => parts)) {
    const [, name] = ('action' in part && /^define "(.+)"$/.exec(part.action)) || []
    if (name !== undefined && 'action' in part) defined.set(name, part.inner)
  }
  const scope = { dot: data, variables: {} }
  return parsed.filter(({ file }) => file.endsWith('.yaml')).map(({ parts }) => render(parts, scope, defined))
}

/** `{{-` takes the white space before it away, `-}}` that behind it. */
function parse(template: string): Part[] {
  const pieces = template
    .replace(/\s*\{\{-/g, '{{')
    .replace(/-\}\}\s*/g, '}}')
    .split(/\{\{([\s\S]*?)\}\}/)
  const root: Part[] = []
  const open: Part[][] = [root]
  for (const [index, piece] of pieces.entries()) {
    const into = open.at(-1) ?? root
    const action = piece.trim()
    if (index % 2 === 0) into.push({ text: piece })
    else if (action === 'end') open.pop()
    else if (!action.startsWith('/*')) {
      const part = { action, inner: [] }
      into.push(part)
      if (/^(define|if|range) /.test(action)) open.push(part.inner)
    }
  }
  if (open.length !== 1) throw new Error('An action is not ended.')
  return root
}

function render(parts: readonly Part[], scope: Scope, defined: ReadonlyMap<string, Part[]>): string {
  const again = (inner: readonly Part[], more: Partial<Scope>) => render(inner, { ...scope, ...more }, defined)
  const value = (text: string) => evaluate(text, scope, (name, dot) => again(defined.get(name) ?? [], { dot }))
  return parts
    .map((part) => {
      if ('text' in part) return part.text
      const { action, inner } = part
      const [, keyword, rest = ''] = /^(define|if|range) (.*)$/s.exec(action) ?? []
      if (keyword === 'define') return ''
      if (keyword === 'if') return isTrue(value(rest)) ? again(inner, {}) : ''
      if (keyword !== 'range') return String(value(action))
      const [, key = '', item = '', list = ''] = /^\$(\w+), \$(\w+) := (.*)$/.exec(rest) ?? []
      if (key === '') return (value(rest) as unknown[]).map((dot) => again(inner, { dot })).join('')
      const entries = Object.entries(value(list) as object).sort(([a], [b]) => (a < b ? -1 : 1))
      return entries.map(([name, each]) => again(inner, { variables: { [key]: name, [item]: each } })).join('')
    })
    .join('')
}

function isTrue(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)
}

function evaluate(text: string, scope: Scope, include: (name: string, dot: unknown) => string): unknown {
  const functions: Record<string, (...args: never[]) => unknown> = {
    include,
    quote: (value: unknown) => JSON.stringify(String(value)),
    default: (fallback: unknown, value: unknown) => (isTrue(value) ? value : fallback),
    trimPrefix: (prefix: string, value: string) => (value.startsWith(prefix) ? value.slice(prefix.length) : value),
    toYaml: (value: unknown) => stringify(value).trimEnd(),
    nindent: (spaces: number, value: string) => `\n${value.replace(/^/gm, ' '.repeat(spaces))}`,
  }
  let result: unknown[] = []
  for (const step of text.split(' | ')) {
    const [first = '', ...rest] = step.match(/"[^"]*"|\S+/g) ?? []
    const args = rest.map((word) => operand(word, scope))
    const call = functions[first]
    if (!call && (args.length > 0 || result.length > 0)) throw new Error(`Unknown function in "${text}".`)
    result = [call ? call(...([...args, ...result] as never[])) : operand(first, scope)]
  }
  return result[0]
}

function operand(word: string, { dot, variables }: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word)
  if (/^\d+$/.test(word)) return Number(word)
  if (word.startsWith('$')) return variables[word.slice(1)]
  if (!word.startsWith('.')) throw new Error(`"${word}" is not understood.`)
  return word
    .split('.')
    .filter((name) => name !== '')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], dot)
}
