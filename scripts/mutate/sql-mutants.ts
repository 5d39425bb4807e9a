import type { Change } from './change.ts'

type Token = {
  kind: 'word' | 'sign' | 'number' | 'text' | 'value' | '(' | ')' | ','
  text: string
  start: number
  end: number
  depth: number
}

/** A statement or a part of one begins with one of these; other text is for people. */
const beginning =
  /^\s*\(?(\$\{\w+\}\.\w+ is|select|insert into|update|delete from|with|from|where|and|or|join|left join|not|exists|order by|set|case|coalesce|values|lateral)\b/
const evidence = /\$\{?\w|\bfrom\b|[<>=]|\blimit\b|\bis (not )?null\b/
/** Of these no part is mutated: they define tables and settings, which `schema.sql` and the tests of roles compare as a whole. */
const definition =
  /^\s*(set (local|session|role|transaction|statement_timeout|search_path)|alter|create|grant|drop|lock)\b/
/** What ends a condition at its own depth. */
const endOfCondition = new Set(
  'and or where from group order limit offset for returning union on join left right inner cross lateral having window when then else end as set values do'.split(
    ' ',
  ),
)

export function isSql(text: string): boolean {
  return beginning.test(text) && evidence.test(text) && !definition.test(text)
}

/**
 * Changes of SQL inside a template literal or string: comparisons, `and` and `or`, conditions left out, locks, defaults, bounds, orders and numbers.
 * `text` is as it stands in the source; `at` is its place there. What it holds of JavaScript is passed over. Each change is SQL that can be parsed.
 */
export function sqlChanges(text: string, at: number): Change[] {
  const tokens = tokensOf(text)
  const changes: Change[] = []
  const replace = (from: Token, to: Token, is: string) =>
    changes.push({ kind: 'sql', start: at + from.start, end: at + to.end, is })
  const word = (index: number) => (tokens[index]?.kind === 'word' ? tokens[index].text : '')
  const settingAt = new Set<number>()
  let between = 0

  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]
    const after = tokens[index + 2]
    if (token.kind === 'word' && token.text === 'set') settingAt.add(token.depth)
    if (token.kind === 'word' && /^(where|from|returning)$/.test(token.text)) settingAt.delete(token.depth)
    if (token.kind === ')') settingAt.delete(token.depth + 1)
    if (token.kind === 'number') replace(token, token, String(Number(token.text) + 1))
    if (token.kind === 'text') {
      const [, amount, unit] = /^'(\d+) (\w+)'$/.exec(token.text) ?? []
      if (amount) replace(token, token, `'${Number(amount) + 1} ${unit}'`)
    }
    if (token.kind === 'sign') {
      if (token.text === '=' && settingAt.has(token.depth)) settingAt.delete(token.depth)
      else if (token.text === '=' && next?.text === 'any') replace(token, next, '<> all')
      else
        for (const other of otherSigns[token.text] ?? [])
          if (isBetweenValues(tokens, index)) replace(token, token, other)
    }
    if (token.kind === ',' && isInSet(tokens, index)) settingAt.add(token.depth)
    if (token.kind !== 'word') continue

    if (token.text === 'between') between += 1
    else if (token.text === 'and' && between > 0) between -= 1
    else if (token.text === 'and' || token.text === 'or') {
      replace(token, token, token.text === 'and' ? 'or' : 'and')
      const last = endOf(tokens, index + 1)
      if (last) replace(token, last, '')
    } else if (
      token.text === 'where' ||
      (token.text === 'on' && next?.kind !== '(' && word(index - 1) !== 'distinct')
    ) {
      const last = endOf(tokens, index + 1)
      if (last && next && word(index + 1) !== 'conflict') replace(next, last, 'true')
    } else if (token.text === 'is' && word(index + 1) === 'null') replace(token, token, 'is not')
    else if (token.text === 'is' && word(index + 1) === 'not' && after && next) {
      if (after.text === 'null' || after.text === 'distinct') replace(next, next, '')
    } else if (token.text === 'is' && word(index + 1) === 'distinct') replace(token, token, 'is not')
    else if (token.text === 'not' && next && word(index - 1) !== 'is' && word(index + 1) !== 'materialized') {
      if (word(index - 1) !== 'if') replace(token, token, '')
    } else if ((token.text === 'exists' || token.text === 'in') && next?.kind === '(' && word(index - 1) !== 'not')
      replace(token, token, `not ${token.text}`)
    else if (token.text === 'for' && /^(update|share|no|key)$/.test(word(index + 1))) {
      let last = index + 1
      while (/^(update|share|no|key|of|skip|locked|nowait)$/.test(word(last + 1)) || word(last) === 'of') last += 1
      const end = tokens[last]
      if (end) replace(token, end, '')
    } else if (token.text === 'skip' && word(index + 1) === 'locked' && next) replace(token, next, '')
    else if (token.text === 'limit' && next && word(index + 1) !== 'all') {
      replace(token, next.kind === '(' ? (closing(tokens, index + 1) ?? next) : next, '')
      if (next.kind === 'value') replace(next, next, `${next.text} + 1`)
    } else if (token.text === 'coalesce' && next?.kind === '(') {
      const end = closing(tokens, index + 1)
      const comma = tokens.findIndex(
        (each, place) => place > index && each.kind === ',' && each.depth === next.depth + 1,
      )
      const begin = tokens[index + 2]
      const last = tokens[comma - 1]
      if (end && begin && last) replace(token, end, `(${text.slice(begin.start, last.end)})`)
    } else if (swapped[token.text] && next?.kind === '(') replace(token, token, swapped[token.text] ?? '')
    else if (token.text === 'true' || token.text === 'false')
      replace(token, token, token.text === 'true' ? 'false' : 'true')
    else if (token.text === 'desc') replace(token, token, '')
    else if (token.text === 'order' && word(index + 1) === 'by') {
      const last = endOfKey(tokens, index + 2)
      if (last && tokens[index + 2] && !/^(asc|desc)$/.test(last.text))
        changes.push({ kind: 'sql', start: at + last.end, end: at + last.end, is: ' desc' })
    } else if (token.text === 'distinct' && !/^(from|on)$/.test(word(index + 1))) replace(token, token, '')
    else if (token.text === 'left' && word(index + 1) === 'join') replace(token, token, '')
    else if (token.text === 'union' && word(index + 1) === 'all' && next) replace(token, next, 'union')
  }
  return changes
}

const otherSigns: Record<string, readonly string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '=': ['<>'],
  '<>': ['='],
  '!=': ['='],
  '+': ['-'],
  '-': ['+'],
}
const swapped: Record<string, string> = { min: 'max', max: 'min', greatest: 'least', least: 'greatest' }

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const pattern =
    /(?<gap>\s+|--[^\n]*|\/\*[\s\S]*?\*\/)|(?<text>'(?:[^']|'')*')|(?<value>\$\d+|"[^"]*")|(?<number>\d+(?:\.\d+)?)|(?<word>[A-Za-z_][\w.]*)|(?<bracket>[()])|(?<comma>,)|(?<sign>[<>=!+\-*/@#|&~%^:?]+)|[\s\S]/y
  let depth = 0
  for (let start = 0; start < text.length; start = pattern.lastIndex) {
    if (text.startsWith('${', start)) {
      const end = endOfHole(text, start)
      tokens.push({ kind: 'value', text: text.slice(start, end), start, end, depth })
      pattern.lastIndex = end
      continue
    }
    pattern.lastIndex = start
    const { groups = {} } = pattern.exec(text) ?? {}
    const end = pattern.lastIndex
    const kind = (['text', 'value', 'number', 'word', 'sign'] as const).find((each) => groups[each] !== undefined)
    if (groups.bracket === ')') depth -= 1
    if (kind)
      tokens.push({
        kind,
        text: kind === 'word' ? text.slice(start, end).toLowerCase() : text.slice(start, end),
        start,
        end,
        depth,
      })
    else if (groups.bracket) tokens.push({ kind: groups.bracket as '(' | ')', text: groups.bracket, start, end, depth })
    else if (groups.comma) tokens.push({ kind: ',', text: ',', start, end, depth })
    if (groups.bracket === '(') depth += 1
  }
  return tokens
}

/** The end of `${…}`, whose braces, strings and templates may nest. */
function endOfHole(text: string, start: number): number {
  let braces = 0
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '{') braces += 1
    if (text[index] === '}') braces -= 1
    if (braces === 0) return index + 1
  }
  return text.length
}

/** The last token of a condition that begins at `index`: to the next word, bracket or comma of its own depth that ends it. */
function endOf(tokens: readonly Token[], index: number): Token | undefined {
  const depth = tokens[index]?.depth ?? 0
  let between = 0
  let end = index
  for (; end < tokens.length; end += 1) {
    const token = tokens[end]
    if (!token || token.depth < depth || (token.kind === ')' && token.depth < depth)) break
    if (token.depth > depth) continue
    if (token.kind === ',') break
    if (token.text === 'between') between += 1
    else if (token.text === 'and' && between > 0) between -= 1
    else if (token.kind === 'word' && endOfCondition.has(token.text) && !isPartOfCondition(tokens, end)) break
  }
  return end > index ? tokens[end - 1] : undefined
}

/** `from` of `is distinct from`. */
function isPartOfCondition(tokens: readonly Token[], index: number): boolean {
  return tokens[index]?.text === 'from' && tokens[index - 1]?.text === 'distinct'
}

function endOfKey(tokens: readonly Token[], index: number): Token | undefined {
  const depth = tokens[index]?.depth ?? 0
  let last: Token | undefined
  for (const token of tokens.slice(index)) {
    if (
      token.depth < depth ||
      (token.depth === depth &&
        (token.kind === ',' || /^(limit|offset|for|rows|range|union|returning)$/.test(token.text)))
    )
      break
    last = token
  }
  return last
}

function closing(tokens: readonly Token[], open: number): Token | undefined {
  const depth = tokens[open]?.depth
  return tokens.slice(open + 1).find((token) => token.kind === ')' && token.depth === depth)
}

/** A sign between two operands, so that another sign may stand there. */
function isBetweenValues(tokens: readonly Token[], index: number): boolean {
  const [before, after] = [tokens[index - 1], tokens[index + 1]]
  const isOperand = (token: Token | undefined, bracket: string) =>
    token !== undefined && (/^(word|number|text|value)$/.test(token.kind) || token.kind === bracket)
  return isOperand(before, ')') && isOperand(after, '(')
}

/** Whether a comma separates the assignments of a `set`. */
function isInSet(tokens: readonly Token[], index: number): boolean {
  const depth = tokens[index]?.depth
  for (const token of tokens.slice(0, index).toReversed()) {
    if (token.depth < (depth ?? 0)) return false
    if (token.depth === depth && token.kind === 'word' && /^(select|where|from|returning|values|by)$/.test(token.text))
      return false
    if (token.depth === depth && token.text === 'set') return true
  }
  return false
}
