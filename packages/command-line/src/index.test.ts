import assert from 'node:assert/strict'
import test from 'node:test'
import { createOption, createProgram, InvalidArgumentError, once, UsageError } from './index.ts'

/** What the command got, or the text to print. */
function parse(...args: string[]): unknown {
  let values: unknown
  const { program, parse: parseArgs } = createProgram('shop', 'Sells things.')
  const order = program.command('order').description('what people want')
  order
    .command('create')
    .description('Create an order.')
    .addOption(createOption('--name <text>', 'whose', once(String)))
    .addOption(createOption('--count <number>', 'how many', once(whole)))
    .addOption(createOption<string[]>('--item <text>', 'one or more', (text, before) => [...(before ?? []), text]))
    .addOption(createOption('--gift', 'wrap it', once(String)))
    .action((parsed) => {
      values = parsed
    })
  return parseArgs(args) ?? values
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('must be a whole number.')
  return Number(text)
}

test('a command gets its options as what they mean', () => {
  assert.deepEqual(
    { ...(parse('order', 'create', '--count=0', '--item', 'a', '--item', '-b', '--gift') as object) },
    {
      count: 0,
      item: ['a', '-b'],
      gift: true,
    },
  )
})

test('each error is one sentence that names what is wrong, beside the help of the nearest command', () => {
  const refused: [string[], string, string][] = [
    [['ordr'], 'Unknown command "ordr". Did you mean "order"?', 'shop'],
    [['__proto__'], 'Unknown command "__proto__".', 'shop'],
    [['--gift'], 'Unknown option "--gift".', 'shop'],
    [['order', 'crate'], 'Unknown command "crate". Did you mean "create"?', 'shop order'],
    [['order', '--gift'], 'Unknown option "--gift".', 'shop order'],
    [['order', 'create', '--nmae', 'x'], 'Unknown option "--nmae". Did you mean "--name"?', 'shop order create'],
    [['order', 'create', '-n'], 'Unknown option "-n".', 'shop order create'],
    [['order', 'create', '--gift=yes'], 'Unknown option "--gift=yes".', 'shop order create'],
    [['order', 'create', 'one', 'two'], 'Unexpected argument "one".', 'shop order create'],
    [['order', 'create', '--', 'one'], 'Unexpected argument "one".', 'shop order create'],
    [['order', 'create', '--name'], '--name needs a value.', 'shop order create'],
    [['order', 'create', '--name='], '--name needs a value.', 'shop order create'],
    [['order', 'create', '--name', '--gift'], '--name needs a value.', 'shop order create'],
    [['order', 'create', '--name', 'x', '--name', 'y'], '--name is given twice.', 'shop order create'],
    [['order', 'create', '--count', "1' or\n"], '--count must be a whole number.', 'shop order create'],
  ]
  for (const [args, message, command] of refused) {
    assert.throws(
      () => parse(...args),
      (error) => {
        assert.ok(error instanceof UsageError)
        assert.equal(error.message, message)
        assert.ok(error.usage.startsWith(`Usage: ${command} [`), error.usage)
        return true
      },
    )
  }
})

test('help is printed where it is asked for, and where the command is missing', () => {
  for (const args of [[], ['--help'], ['-h'], ['help']]) assert.match(String(parse(...args)), /^Usage: shop .*order/s)
  for (const args of [['order'], ['order', '--help'], ['help', 'order']])
    assert.match(String(parse(...args)), /^Usage: shop order .*create/s)
  assert.match(String(parse('order', 'create', '--name', 'x', '--help')), /^Usage: shop order create .*--item <text>/s)
})
