import type { Node } from './syntax.ts'

/** Of these calls, neither what they are given nor that they are made is a promise: logs, measures (of memory too), texts for people. */
const calls =
  /^(log|warn|debug|info|note|trace|span|inSpan|describe|observe|inc|dec|keepBytes|setAttribute|unref|oneLine)$/
/** Properties whose values are read by people alone, or name something for the database's own statistics. */
const properties =
  /^(because|cause|errors|message|description|title|summary|examples?|help|usage|applicationName|durationMs|logNotes|name)$/
/** How the statements of reading are called where they are prepared (`records.whole`): the caller passes it on. */
const statementName = /^(records)?\.\w+$/
/** What ends processes or removes files is never changed: a mutant must not harm the machine it runs on. */
const harmful = /^(kill|rm|rmSync|rmdir|unlink|unlinkSync|chown|chownSync|exit)$/

/** Whether no fault is planted in this node: it is no code that runs, or what it does is not promised. */
export function isLeftOut(node: Node, parents: readonly Node[]): boolean {
  const parent = parents.at(-1)
  if (/^(Import|Export(All|Named)Declaration$|JSX)/.test(node.type) && !node.declaration) return true
  // The usual value of an option: tests give others.
  if (node.type === 'Literal' && parent?.type === 'AssignmentPattern') return typeof node.value === 'number'
  if (node.type === 'AssignmentExpression' && isNote(node.left as Node)) return true
  if (node.type === 'ExpressionStatement') return isLeftOut(innermost(node.expression as Node), [])
  if (node.type === 'CallExpression') {
    const name = calleeOf(node)
    return calls.test(name) || harmful.test(name) || /^console\./.test(name)
  }
  if (node.type === 'NewExpression') return /Error$|^Problem$/.test(String((node.callee as Node).name))
  if (node.type === 'Property' && !node.computed)
    return properties.test(nameOfKey(node.key as Node)) && isConstant(node.value as Node)
  if (node.type === 'Literal' && parent) {
    if (statementName.test(String(node.value))) return true
    if (/^(Property|MethodDefinition|PropertyDefinition)$/.test(parent.type) && parent.key === node) return true
    if (parent.type === 'BinaryExpression' && (parent.left as Node).operator === 'typeof') return true
    if (parent.type === 'ExpressionStatement') return true
  }
  if (node.type === 'ThrowStatement') return isInvariant(node)
  // A condition that only guards harm stays as it is, and so does one of what cannot be.
  return node.type === 'IfStatement' && (isHarm(node.consequent as Node) || isInvariant(node.consequent as Node))
}

/** `throw new Error(…)`: a mistake of ours was found. What callers are told is a `Problem` or an error with a name of its own. */
function isInvariant(node: Node): boolean {
  const thrown = node.type === 'ThrowStatement' ? (node.argument as Node) : null
  return thrown?.type === 'NewExpression' && (thrown.callee as Node).name === 'Error'
}

/** `request.logNotes.records`. */
function isNote(node: Node): boolean {
  return (
    node.type === 'MemberExpression' &&
    [node.property, node.object].some((part) => (part as Node).name === 'logNotes' || isNote(part as Node))
  )
}

function innermost(node: Node): Node {
  return node.type === 'AwaitExpression' || node.type === 'UnaryExpression' ? innermost(node.argument as Node) : node
}

function isHarm(node: Node): boolean {
  if (node.type === 'BlockStatement') return (node.body as Node[]).some(isHarm)
  if (node.type !== 'ExpressionStatement') return false
  const inner = innermost(node.expression as Node)
  return inner.type === 'CallExpression' && harmful.test(calleeOf(inner))
}

/** The last name of what is called: `log` of `context.log(…)`, but `console.error`. */
function calleeOf(call: Node): string {
  const callee = call.callee as Node
  if (callee.type !== 'MemberExpression') return String(callee.name ?? '')
  const [object, property] = [callee.object as Node, callee.property as Node]
  return object.name === 'console' ? `console.${property.name}` : String(property.name ?? '')
}

function nameOfKey(key: Node): string {
  return String(key.name ?? key.value ?? '')
}

/** `name: 'a text'` is for people or statistics; `name: input.name` is data. */
function isConstant(value: Node): boolean {
  return value.type === 'Literal' || value.type === 'TemplateLiteral'
}
