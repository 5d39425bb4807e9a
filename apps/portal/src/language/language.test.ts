import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { IntlMessageFormat } from 'intl-messageformat'
import { spanish } from './es/index.ts'
import { t } from './t.ts'
import { textOutside } from './testing/text-outside.ts'

const sources = join(import.meta.dirname, '..')

/** The folders and files whose texts are all in the catalogue. */
const areas = ['api', 'shell', 'ui', 'language', 'pages/sign-in']

const files = globSync(
  areas.map((area) => (area.includes('.') ? area : `${area}/**/*.{ts,tsx}`)),
  { cwd: sources, exclude: ['**/*.test.ts', '**/testing/**', 'language/es/**', 'language/language.ts'] },
)

/** What is the same in every language. */
const same = ['Ctrl+K']

test('no text of an area in two languages is outside of the catalogue', () => {
  assert.ok(files.length > 50)
  const found = files.flatMap((file) =>
    textOutside(file, readFileSync(join(sources, file), 'utf8'))
      .filter((text) => !same.includes(text))
      .map((text) => `${file}: ${text}`),
  )
  assert.deepEqual(found, [])
})

test('a new text outside of the catalogue is found, wherever it stands', () => {
  const found = (source: string) => textOutside('page.tsx', source)
  assert.deepEqual(found('const page = <Text>Read by vendors</Text>'), ['Read by vendors'])
  assert.deepEqual(found('const page = <Text>{isOpen ? "open" : t("Closed")}</Text>'), ['open'])
  assert.deepEqual(found('const page = <Button aria-label="close">{t("Close")}</Button>'), ['close'])
  assert.deepEqual(found('const page = <Page title={`Access of ${name}`} />'), ['Access of …'])
  assert.deepEqual(found('const titles = { open: "Open requests" }'), ['Open requests'])
  assert.deepEqual(found('const say = () => notify({ message: `${name} was removed` })'), ['… was removed'])
  assert.deepEqual(found('const page = <Box className="wide" to="/sign-in">{t("Close")}</Box>'), [])
})

test('every text has the same places and tags in both languages', () => {
  for (const [english, text] of Object.entries(spanish)) {
    assert.deepEqual(placesOf(text), placesOf(english), english)
    assert.notEqual(text.trim(), '', english)
  }
})

test('every text of the catalogue is used', () => {
  const code = globSync(['**/*.{ts,tsx}', '../../../packages/contract/src/**/*.ts'], {
    cwd: sources,
    exclude: ['language/es/**', '**/*.test.ts'],
  })
    .map((file) => readFileSync(join(sources, file), 'utf8'))
    .join('\n')
  const unused = Object.keys(spanish).filter(
    (english) => !code.includes(`'${english.replaceAll("'", "\\'")}'`) && !code.includes(`"${english}"`),
  )
  assert.deepEqual(unused, [])
})

test('what people wrote stays what it is in a text', () => {
  for (const name of ['{count}', '<b>Dr. O’Neil</b>', "'{'", 'Zähne & Söhne', '‮evil']) {
    assert.equal(t('Join {name}', { name }), `Join ${name}`)
  }
  assert.equal(
    t('{missing} more {missing, plural, one {character} other {characters}}', { missing: 1 }),
    '1 more character',
  )
})

/** The names of a message's places and tags, each once. */
function placesOf(text: string): string[] {
  const names = new Set<string>()
  const visit = (parts: readonly unknown[]): void => {
    for (const part of parts as {
      value: string
      type: number
      options?: Record<string, { value: unknown[] }>
      children?: unknown[]
    }[]) {
      if (part.type !== 0 && part.type !== 7) names.add(part.children ? `<${part.value}>` : part.value)
      if (part.children) visit(part.children)
      for (const option of Object.values(part.options ?? {})) visit(option.value)
    }
  }
  visit(new IntlMessageFormat(text, 'en').getAst())
  return [...names].sort()
}
