/** A node of the ESTree that oxc makes: positions in UTF-16 units, and children by name. */
export type Node = { type: string; start: number; end: number; [name: string]: unknown }

/** Types have no effect at run time: only what they wrap is followed. */
const wrappers = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSTypeAssertion'])

export function childrenOf(node: Node): Node[] {
  if (wrappers.has(node.type)) return [node.expression as Node]
  return Object.entries(node)
    .filter(([name]) => name !== 'parent' && name !== 'typeAnnotation' && name !== 'typeArguments')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .filter(({ type }) => !type.startsWith('TS') || wrappers.has(type))
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
