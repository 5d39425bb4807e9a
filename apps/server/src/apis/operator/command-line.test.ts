import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from './commands.ts'
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
    [['organisation', 'list'], /^Unknown command "organisation"\. Did you mean "organization"\?/],
    [['xyzzy'], /^Unknown command "xyzzy"\.\n/],
    [['__proto__', 'list'], /^Unknown command "__proto__"\./],
    [['grant', 'ad'], /^Unknown command "ad"\. Did you mean "add"\?/],
    [['grant', 'constructor'], /^Unknown command "constructor"\./],
    [['--json'], /"Unknown option \\"--json\\"\."/],
    [['company', '--json'], /"Unknown option \\"--json\\"\."/],
    [['company', 'list', 'all'], /^Unexpected argument "all"\./],
    [['company', 'list', '--', 'x'], /^Unexpected argument "x"\./],
    [['company', 'create', '--nmae', 'x'], /^Unknown option "--nmae"\. Did you mean "--name"\?/],
    [['company', 'create', '-n', 'x'], /^Unknown option "-n"\./],
    [['company', 'create', '--name', 'x'], /Missing: --owner-email <address>, --owner-name <text>\./],
    [['company', 'create', '--name', 'x', '--name', 'y'], /--name is given twice/],
    [['company', 'create', '--name'], /--name needs a value/],
    [['company', 'create', '--name='], /--name needs a value/],
    [['company', 'create', '--name', '--owner-name', 'x'], /--name needs a value/],
    [['company', 'list', '--json=yes'], /Unknown option "--json=yes"/],
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
  for (const [group, { commands: ofGroup }] of Object.entries(commands)) {
    assert.ok(all.out.includes(group))
    const one = await runDry(group, '--help')
    assert.equal(one.code, 0)
    for (const [name, { options }] of Object.entries(ofGroup)) {
      assert.ok(one.out.includes(name))
      const help = await runDry(group, name, '--help')
      assert.equal(help.code, 0)
      for (const option of Object.keys(options)) {
        assert.ok(help.out.includes(`--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`))
      }
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
  assert.match(away.err, /^The database cannot do this now \(ECONNREFUSED\)/)
})
