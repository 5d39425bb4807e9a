import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import type { Change, Mutant } from './change.ts'
import { isLeftOut } from './left-out.ts'
import { isSql, sqlChanges } from './sql-mutants.ts'
import { childrenOf, type Node } from './syntax.ts'

/** Every fault that can be planted in a file, or in those of its functions and constants that `only` names. */
export function mutantsOf(root: string, file: string, only: readonly string[] = []): Mutant[] {
  const text = readFileSync(join(root, file), 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const found = (program.body as unknown as Node[]).flatMap((statement) => {
    const inside = nameOf(statement)
    if (only.length > 0 && !only.includes(inside)) return []
    return changesIn(statement, [], text).map((change) => ({ ...change, inside }))
  })
  const missing = only.filter((name) => !found.some(({ inside }) => inside === name))
  if (missing.length > 0) throw new Error(`${file} has nothing to mutate that is called ${missing.join(', ')}.`)
  const mutants = found.map((change) => describe(change, file, text))
  return mutants.filter(
    (each, index) =>
      each.was !== each.is &&
      mutants.findIndex((other) => other.start === each.start && other.end === each.end && other.is === each.is) ===
        index,
  )
}

function describe(change: Change & { inside: string }, file: string, text: string): Mutant {
  const before = text.lastIndexOf('\n', change.start - 1) + 1
  const [where = ''] = text.slice(before).split('\n', 1)
  return {
    ...change,
    file,
    line: text.slice(0, change.start).split('\n').length,
    where: where.trim(),
    was: oneLine(text.slice(change.start, change.end)),
  }
}

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}

/** The name that a statement at the top of a file gives to a function, class or constant. */
function nameOf(statement: Node): string {
  const declared = (statement.declaration ?? statement) as Node
  const [first] = (declared.declarations as Node[] | undefined) ?? [declared]
  return String((first?.id as Node | undefined)?.name ?? '')
}

function changesIn(node: Node, parents: readonly Node[], text: string): Change[] {
  if (isLeftOut(node, parents)) return []
  const here = makers[node.type]?.(node, text, parents) ?? []
  const path = [...parents, node]
  return [...here, ...childrenOf(node).flatMap((child) => changesIn(child, path, text))]
}

type Maker = (node: Node, text: string, parents: readonly Node[]) => Change[]

const comparisons: Record<string, readonly string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
}
const arithmetic: Record<string, string> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
  '&': '|',
  '|': '&',
}
const calls: Record<string, string> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  floor: 'ceil',
  ceil: 'floor',
}

const makers: Record<string, Maker> = {
  BinaryExpression(node, text) {
    const [left, operator, right] = [node.left as Node, String(node.operator), node.right as Node]
    const sign = signBetween(left, right, operator, text)
    const compared = (comparisons[operator] ?? []).map((is) => ({ kind: 'comparison' as const, ...sign, is }))
    const other = arithmetic[operator]
    const isText = operator === '+' && [left, right].some((side) => hasText(side))
    return [...compared, ...(other && !isText ? [{ kind: 'arithmetic' as const, ...sign, is: other }] : [])]
  },
  LogicalExpression(node, text) {
    const [left, operator] = [node.left as Node, String(node.operator)]
    // Only for the compiler: an element that is there.
    if (operator === '??' && isElement(left)) return []
    const is = { '&&': '||', '||': '&&', '??': '&&' }[operator]
    const at = signBetween(left, node.right as Node, operator, text)
    return is ? [{ kind: 'logic', ...at, is, runAt: node.start }] : []
  },
  UnaryExpression(node) {
    return node.operator === '!' ? [{ kind: 'logic', start: node.start, end: node.start + 1, is: '' }] : []
  },
  AssignmentExpression(node, text) {
    const [operator, right] = [String(node.operator), node.right as Node]
    const other = arithmetic[operator]
    if (!other || hasText(right)) return []
    return [{ kind: 'arithmetic', ...signBetween(node.left as Node, right, operator, text), is: other }]
  },
  UpdateExpression(node, text) {
    const at = text.indexOf(String(node.operator), node.start)
    return [{ kind: 'arithmetic', start: at, end: at + 2, is: arithmetic[String(node.operator)] ?? '' }]
  },
  IfStatement: (node) => forced(node.test as Node),
  ConditionalExpression: (node) => forced(node.test as Node),
  WhileStatement: (node) => forced(node.test as Node).filter(({ is }) => is === 'false'),
  ExpressionStatement(node, text, parents) {
    const expression = node.expression as Node
    if (!isEffect(expression)) return []
    const removed: Change = { kind: 'statement', start: node.start, end: node.end, is: ';' }
    if (expression.type !== 'AwaitExpression' || isInOrderAnyway(expression)) return [removed]
    const unawaited: Change = {
      kind: 'statement',
      start: expression.start,
      end: expression.start + 'await'.length,
      is: '',
    }
    return [removed, unawaited, ...swappedWithNext(node, parents.at(-1), text)]
  },
  ThrowStatement: (node) => [{ kind: 'statement', start: node.start, end: node.end, is: ';' }],
  ReturnStatement(node) {
    const value = node.argument as Node | null
    return value && /^(Await|Call|Conditional|Logical|Binary|Object|Array|New)Expression$/.test(value.type)
      ? [{ kind: 'value', start: value.start, end: value.end, is: 'null' }]
      : []
  },
  CallExpression(node) {
    const callee = node.callee as Node
    if (callee.type !== 'MemberExpression' || callee.computed) return []
    const property = callee.property as Node
    const [first] = node.arguments as Node[]
    if (property.name === 'filter' && first)
      return [{ kind: 'call', start: first.start, end: first.end, is: '() => true' }]
    const name = String(property.name)
    const is = Object.hasOwn(calls, name) ? calls[name] : undefined
    return is ? [{ kind: 'call', start: property.start, end: property.end, is }] : []
  },
  Literal(node, text, parents) {
    const { value, start, end } = node
    const change = (is: string): Change => ({ kind: 'constant', start, end, is })
    const raw = text.slice(start, end)
    if (typeof value === 'boolean') return [change(String(!value))]
    if (typeof value === 'bigint') return [change(`${value + 1n}n`), change(`${value - 1n}n`)]
    if (typeof value === 'number') return numbersNear(value, parents).map((is) => change(String(is)))
    if (node.regex) return looser(raw).map(change)
    if (typeof value !== 'string' || value === '') return []
    if (isSql(value) && !raw.includes('\\')) return sqlChanges(raw.slice(1, -1), start + 1)
    return [change(`''`)]
  },
  TemplateLiteral(node, text) {
    const inner = text.slice(node.start + 1, node.end - 1)
    return isSql(inner) ? sqlChanges(inner, node.start + 1) : []
  },
}

function signBetween(left: Node, right: Node, operator: string, text: string): { start: number; end: number } {
  // A bracket or a comment may stand between an operand and its operator.
  const start = left.end + withoutComments(text.slice(left.end, right.start)).indexOf(operator)
  return { start, end: start + operator.length }
}

function withoutComments(text: string): string {
  return text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, (comment) => ' '.repeat(comment.length))
}

function forced({ start, end }: Node): Change[] {
  return ['true', 'false'].map((is) => ({ kind: 'condition', start, end, is }))
}

function isEffect(expression: Node): boolean {
  const inner =
    expression.type === 'AwaitExpression' || (expression.type === 'UnaryExpression' && expression.operator === 'void')
      ? (expression.argument as Node)
      : expression
  return /^(Call|Assignment|Update)Expression$/.test(inner.type) || inner.type === 'ChainExpression'
}

/** One connection carries out its statements in the order in which they were given, and a transaction waits for all of them. */
function isInOrderAnyway(expression: Node): boolean {
  const call = expression.argument as Node
  if (call.type !== 'CallExpression') return false
  const [callee, first] = [call.callee as Node, (call.arguments as Node[])[0]]
  const nameOf = (each: Node | undefined) => String(each?.name ?? (each?.property as Node | undefined)?.name)
  return [callee.object as Node | undefined, first].some((each) => /^(client|db)$/.test(nameOf(each)))
}

/** Two steps that are awaited one after the other, the other way round. */
function swappedWithNext(node: Node, parent: Node | undefined, text: string): Change[] {
  const siblings = Array.isArray(parent?.body) ? (parent.body as Node[]) : []
  const next = siblings[siblings.indexOf(node) + 1]
  if (next?.type !== 'ExpressionStatement' || (next.expression as Node).type !== 'AwaitExpression') return []
  const [first, second] = [text.slice(node.start, node.end), text.slice(next.start, next.end)]
  return [{ kind: 'statement', start: node.start, end: next.end, is: `${second}\n${first}` }]
}

/** One more and one less, or twice and half of what is a time or a size, where one more makes no difference that anybody promised. */
function numbersNear(value: number, parents: readonly Node[]): number[] {
  const isMeasured = parents.some(({ type, id, key }) => {
    const name =
      type === 'VariableDeclarator' ? id : type === 'Property' || type === 'AssignmentPattern' ? key : undefined
    return /(Ms|Seconds|Bytes|MiB|Days)$/.test(String((name as Node | undefined)?.name ?? ''))
  })
  if ((isMeasured && value !== 0) || !Number.isInteger(value)) return [value * 2, value / 2]
  return value === 0 ? [1] : [value + 1, value - 1]
}

/** A pattern that also takes what begins or ends otherwise. */
function looser(pattern: string): string[] {
  const end = pattern.lastIndexOf('/')
  const [body, flags] = [pattern.slice(1, end), pattern.slice(end)]
  return [
    ...(body.startsWith('^') ? [`/${body.slice(1)}${flags}`] : []),
    ...(/(?<!\\)\$$/.test(body) ? [`/${body.slice(0, -1)}${flags}`] : []),
  ].filter((each) => !each.startsWith('//'))
}

/** `rows[0]`, `rows[0]?.id`, `rows.at(-1)`. */
function isElement(node: Node): boolean {
  if (node.type === 'ChainExpression') return isElement(node.expression as Node)
  if (node.type === 'CallExpression') return isElement(node.callee as Node)
  if (node.type !== 'MemberExpression') return false
  return node.computed === true || (node.property as Node).name === 'at' || isElement(node.object as Node)
}

function hasText(node: Node): boolean {
  if (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')) return true
  return node.type === 'BinaryExpression' && [node.left, node.right].some((side) => hasText(side as Node))
}
