import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nouns } from './nouns.ts'
import { runOperator } from './run.ts'

/** An operator that must not touch a database. */
async function runDry(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runOperator(args, {
    open: () => Promise.reject(new Error('opened the database')),
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

test('what is misspelt is refused with the nearest word, the usage and exit code 2, before a database is opened', async () => {
  const commands: [string[], RegExp][] = [
    [['organisation', 'list'], /no noun "organisation"\. Did you mean "organization"\?/],
    [['xyzzy'], /no noun "xyzzy"\.\n/],
    [['__proto__', 'list'], /no noun "__proto__"/],
    [['grant', 'ad'], /no verb "ad"\. Did you mean "add"\?/],
    [['grant', 'constructor'], /no verb "constructor"/],
    [['--json'], /first word is a noun/],
    [['company', '--json'], /comes a verb/],
    [['company', 'list', 'all'], /"all" is one word too many/],
    [['company', 'list', '--', 'x'], /one word too many/],
    [['company', 'create', '--nmae', 'x'], /no option --nmae here\. Did you mean "--name"\?/],
    [['company', 'create', '-n', 'x'], /no option -n here/],
    [['company', 'create', '--name', 'x'], /Missing: --owner-email <address>, --owner-name <text>\./],
    [['company', 'create', '--name', 'x', '--name', 'y'], /--name is given twice/],
    [['company', 'create', '--name'], /--name needs a value/],
    [['company', 'create', '--name='], /--name needs a value/],
    [['company', 'create', '--name', '--owner-name', 'x'], /--name needs a value/],
    [['company', 'list', '--json=yes'], /--json takes no value/],
  ]
  for (const [command, message] of commands) {
    const { code, out, err } = await runDry(...command)
    assert.deepEqual([code, out], [2, ''], command.join(' '))
    assert.match(err, message)
    if (!command.includes('--json')) assert.match(err, /\n\nUsage: npm run operator -- /)
  }
})

test('every level explains itself with --help, without a database', async () => {
  const all = await runDry('--help')
  assert.equal(all.code, 0)
  for (const [noun, { verbs }] of Object.entries(nouns)) {
    assert.ok(all.out.includes(noun))
    const one = await runDry(noun, '--help')
    assert.equal(one.code, 0)
    for (const [verb, { options }] of Object.entries(verbs)) {
      assert.ok(one.out.includes(`${noun} ${verb}`))
      const help = await runDry(noun, verb, '--help')
      assert.equal(help.code, 0)
      for (const option of Object.keys(options)) assert.ok(help.out.includes(`--${option}`))
    }
  }
  assert.equal((await runDry()).out, all.out)
})

test('an error of ours shows its place and never a value; a database that is away is named as such', async () => {
  const failing = async (error: Error) => {
    const err: string[] = []
    const code = await runOperator(['company', 'list'], {
      open: () => Promise.reject(error),
      out: () => {},
      err: (text) => err.push(text),
    })
    return { code, err: err.join('\n') }
  }
  const bug = await failing(Object.assign(new Error('row of Jane Doe'), { code: '22P02' }))
  assert.equal(bug.code, 1)
  assert.match(bug.err, /^Internal error: 22P02/)
  assert.ok(!bug.err.includes('Jane'))
  const away = await failing(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))
  assert.equal(away.code, 1)
  assert.match(away.err, /^The database does not answer \(ECONNREFUSED\)/)
})
