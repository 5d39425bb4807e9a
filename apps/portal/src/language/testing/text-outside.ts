import { parseSync } from 'oxc-parser'

type Node = { type: string; start: number; end: number; [member: string]: unknown }

/** Properties of components whose values people read, or hear. */
const textProperties =
  /^(label|title|description|placeholder|alt|heading|never|confirm|error|nothingFoundMessage|what|text|summary|aria-label|aria-description)$/

/** What takes a text that no person reads, or has the text already. */
const callsApart =
  /^(t|message|known|refusal|Error|RegExp|console\.\w+|document\.\w+|localStorage\.\w+|sessionStorage\.\w+)$/

/** Properties whose values are for programs. */
const propertiesApart =
  /^(className|key|id|to|search|href|style|styles|autoComplete|color|c|bg|variant|d|viewBox|w|maw|fill|path|action)$/

const isSentence = (text: string) => /^[A-Z][a-z’-]+([ .,:?!…]|$)/.test(text.trim()) || /[A-Za-z’,.] [a-z]/.test(text)
const hasWords = (text: string) => /[A-Za-z]{2}/.test(text)

/** The texts of a file that a person reads and that are not in the catalogue: between tags, in a component's property, or in a string that reads as a sentence. */
export function textOutside(file: string, source: string): string[] {
  const found: string[] = []
  const say = (text: string) => found.push(text.trim().replace(/\s+/g, ' '))

  const visit = (value: unknown, isShown: boolean): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, isShown)
    if (!isNode(value)) return
    const node = value
    switch (node.type) {
      case 'JSXText':
        // The product's name is the same in every language.
        if (hasWords(String(node.value).replaceAll('Bridgework', ''))) say(String(node.value))
        return
      case 'Literal':
        if (typeof node.value === 'string' && (isSentence(node.value) || (isShown && hasWords(node.value))))
          say(node.value)
        return
      case 'TemplateLiteral': {
        const text = (node.quasis as { value: { cooked: string } }[]).map(({ value: { cooked } }) => cooked)
        if (isSentence(text.join(' x ').trim()) || (isShown && hasWords(text.join(' ')))) say(text.join('…'))
        visit(node.expressions, false)
        return
      }
      case 'JSXElement':
        visit(node.openingElement, false)
        for (const child of node.children as Node[]) visit(child, child.type === 'JSXExpressionContainer')
        return
      case 'JSXAttribute': {
        const name = nameOf(node.name)
        if (!propertiesApart.test(name)) visit(node.value, textProperties.test(name))
        return
      }
      case 'CallExpression':
      case 'NewExpression': {
        const { callee } = node as unknown as { callee: Node }
        if (callsApart.test(source.slice(callee.start, callee.end))) return
        visit(callee, false)
        visit(node.arguments, false)
        return
      }
      case 'ConditionalExpression':
        visit(node.test, false)
        visit([node.consequent, node.alternate], isShown)
        return
      case 'BinaryExpression':
        if (node.operator === '+') visit([node.left, node.right], isShown)
        return
      case 'LogicalExpression':
        visit(node.left, false)
        visit(node.right, isShown)
        return
      case 'Property':
        if (!propertiesApart.test(nameOf(node.key))) visit(node.value, textProperties.test(nameOf(node.key)))
        return
      case 'ImportDeclaration':
      case 'ImportExpression':
      case 'ExportAllDeclaration':
        return
    }
    if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)Expression$/.test(node.type)) return
    for (const [member, inner] of Object.entries(node)) {
      if (member !== 'typeAnnotation') visit(inner, isShown && node.type === 'JSXExpressionContainer')
    }
  }
  visit(parseSync(file, source).program.body, false)
  return found
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function nameOf(node: unknown): string {
  return isNode(node) ? String(node.name ?? node.value ?? '') : ''
}
