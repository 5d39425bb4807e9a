import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { examplesFile, generateExamples } from '../../../scripts/generate-examples.ts'
import { aRecord, someClient } from '../../testing/test-client.ts'
import { command, someFolder } from '../testing/test-command.ts'
import { createPractice } from './simulated-practice.ts'
import { startService } from './simulated-service.ts'

const main = join(import.meta.dirname, '../main.ts')
const guide = join(import.meta.dirname, '../../../../../docs/guides/check-your-integration.md')
const sample = /<!-- example: sync.mjs -->\n```js\n(.*?)```/s.exec(readFileSync(guide, 'utf8'))?.[1] ?? ''
const checks = ['token', 'Retry-After', 'last page', 'watermark', 'removals', 'cut', '401', 'epoch']

describe('doctor --integration', { concurrency: 3 }, () => {
  test('bridgework mirror passes every check, with datasets of both kinds of paging', async (t) => {
    const folder = someFolder(t)
    const copy = `sqlite:${join(folder, 'copy.sqlite')}`
    const tables = ['fee_schedules', 'patients', 'treatments']
    const select = tables.map((table) => `select id from ${table} where not is_hidden`)
    const { code, findings } = await check(
      { HOME: folder, PATH: process.env.PATH ?? '' },
      [
        '--dataset',
        tables.join(),
        '--visible',
        shell([process.execPath, main, 'sql', '--to', copy, select.join(' union all ')]),
      ],
      [process.execPath, main, 'mirror', '--to', copy],
    )
    assert.deepEqual(failed(findings), [])
    assert.deepEqual(
      findings.map((finding) => finding.check),
      checks,
    )
    assert.equal(code, 0)
  })

  test('the sample of the guide passes, and so says the Markdown', async (t) => {
    const { env, program, visible } = someProgram(t)
    const { code, out } = await command(
      [
        'doctor',
        '--integration',
        '--format',
        'markdown',
        '--dataset',
        'patients',
        '--visible',
        visible,
        '--',
        ...program,
      ],
      env,
    )
    assert.equal(code, 0, out)
    assert.match(out, /^# Integration check of .*sync\.mjs\n\n\| check \| result \| what was seen \|\n\| --- \|/)
    for (const name of checks) assert.match(out, new RegExp(`^\\| ${name} \\| ok \\| .*\\|$`, 'm'))
  })

  test('the programs of the guide to other languages pass, by the guide’s own commands', async (t) => {
    const page = readFileSync(join(guide, '../other-languages.md'), 'utf8')
    const block = (kind: string) => new RegExp(`\`\`\`${kind}\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? assert.fail(kind)
    const folder = someFolder(t)
    writeFileSync(join(folder, 'sync.php'), block('php'))
    writeFileSync(join(folder, 'sync.rb'), block('ruby'))
    const bridgework = `bridgework() { '${process.execPath}' '${main}' "$@"; }`
    const { stdout } = await promisify(execFile)('bash', ['-ec', `${bridgework}\n${block('sh')}`], {
      ...{ cwd: folder, env: { HOME: folder, PATH: process.env.PATH ?? '' }, timeout: 300_000 },
    })
    for (const name of checks) assert.equal(stdout.match(new RegExp(`^ok +${name} `, 'gm'))?.length, 2, stdout)
  })

  for (const [check, what, from, to, text] of [
    [
      'token',
      'requests a token for each request',
      'copy.token ??= await',
      'copy.token = await',
      /\d tokens in one run/,
    ],
    ['Retry-After', 'repeats at once', 'answer.waitMs ??', '0 *', /after [01]\.\d s/],
    ['last page', 'reads one page', 'after = meta.next_after', 'after = null', /1 pages of patients/],
    [
      'watermark',
      'keeps it in a Date',
      'watermark: first.next_fetch_modified_since',
      'watermark: new Date(first.next_fetch_modified_since).toISOString()',
      /has lost digits/,
    ],
    ['removals', 'shows removed records', 'if (!attributes.is_hidden) ', '', /still shows it/],
    [
      'cut',
      'takes a cut answer for an empty one',
      '{ status: 0, body: { errors: error.message } }',
      '{ status: 200, body: { data: [], meta: { next_after: null, restored_at: null, next_fetch_modified_since: new Date(Date.now() + 299_000).toISOString() } } }',
      /did not repeat GET .*, whose answer was cut/,
    ],
    ['401', 'goes on', 'answer.status === 401 && !isRenewed', 'answer.status === 401', /It went on although/],
    ['epoch', 'keeps what was lost', 'watermark === null || first.restored_at !== null', 'false', /lost in a restore/],
  ] as const) {
    test(`a program fails ${check}, and nothing else, that ${what}`, async (t) => {
      const { env, program, visible } = someProgram(t, changed(sample, from, to))
      const { code, findings } = await checkPatients(env, visible, program)
      const [finding, ...others] = failed(findings)
      assert.deepEqual([finding?.check, others], [check, []], JSON.stringify(findings))
      assert.match(finding?.text ?? '', text)
      assert.ok(finding?.advice)
      assert.equal(code, 5)
    })
  }

  test('a program that gives up after 429, reads all each time and says nothing of a 401 fails these three', async (t) => {
    const impatient = changed(sample, 'attempt < 8 && [0, 429,', 'attempt < 8 && [0,')
    const forgetful = changed(impatient, 'watermark: first.next_fetch_modified_since', '')
    const text = changed(forgetful, '} else throw new Error(', '} else process.exit(0), new Error(')
    const { env, program, visible } = someProgram(t, text)
    const { findings } = await checkPatients(env, visible, program)
    const texts = failed(findings).map((finding) => `${finding.check}: ${finding.text}`)
    assert.equal(texts.length, 3, JSON.stringify(texts))
    assert.match(texts[0] ?? '', /^Retry-After: .* did not repeat GET ".*exit code 0/)
    assert.match(texts[1] ?? '', /^watermark: .* all of patients again/)
    assert.match(texts[2] ?? '', /^401: .* ended with exit code 0/)
  })

  test('without --visible, what only the copy shows is said to be unchecked', async (t) => {
    const { env, program } = someProgram(t)
    const { code, findings } = await check(env, ['--dataset', 'patients'], program)
    assert.deepEqual(failed(findings), [])
    const unchecked = findings.filter(({ result }) => result === 'note')
    assert.deepEqual(
      unchecked.map((each) => each.check),
      ['removals', 'epoch'],
    )
    assert.equal(code, 5)
  })

  test('a program that fails, reads nothing or does not end is said to, with its last line as plain text', async (t) => {
    const { env } = someProgram(t)
    const node = (code: string) => [process.execPath, '-e', code]
    for (const [program, text] of [
      [
        node(`console.error('one\\nno \\u001b[31mtable'); process.exit(7)`),
        /failed\. It ended with exit code 7: no {2}\[31mtable$/,
      ],
      [node(''), /read no dataset\. It ended with exit code 0\.$/],
      [['sh', '-c', 'sleep 600 & wait'], /did not end in time and was stopped/],
    ] as const) {
      const { code, findings } = await check(env, ['--within', '2s'], program)
      assert.deepEqual([code, findings.length, findings[0]?.check], [5, 1, 'first run'])
      assert.match(findings[0]?.text ?? '', text)
    }
  })

  test('what is written wrongly is said', async (t) => {
    const { env, program } = someProgram(t)
    for (const [argv, text] of [
      [['--integration'], /Missing: the program to check, after --/],
      [['--visible', 'x'], /"visible" is for --integration only/],
      [['--integration', '--format', 'pdf', '--', 'true'], /Formats: text, markdown/],
      [['--integration', '--', 'no-such-program'], /"no-such-program" cannot be started/],
      [['--integration', '--dataset', 'patients', '--visible', 'exit 4', '--', ...program], /--visible failed.*code 4/],
    ] as const) {
      const { code, err } = await command(['doctor', ...argv], env)
      assert.equal(code, 2, err)
      assert.match(err, text)
    }
  })

  test('the simulated service answers in the shape of the service', async (t) => {
    assert.equal(readFileSync(examplesFile, 'utf8'), generateExamples(), 'run npm run generate')
    const { world, vendor, location } = await someClient(t)
    const practice = createPractice(['insurance_plans', 'fee_schedules'])
    const simulated = await startService(practice)
    t.after(simulated.close)
    const plan = aRecord('insurance_plans', { fee_schedule_source_id: 'f1' })
    await location.upload('fee_schedules', { f1: aRecord('fee_schedules'), f2: aRecord('fee_schedules') })
    await location.upload('insurance_plans', { p1: plan, p2: plan })
    const baseUrl = `${world.url}/api/v1/vendors`
    const [real, ours] = [await readerOf({ baseUrl, ...vendor }), await readerOf(simulated)]
    for (const path of [
      '/locations',
      '/organizations',
      '/changes',
      '/locations/ID',
      '/locations/ID/sync_status',
      '/locations/ID/insurance_plans?items=1',
      '/locations/ID/fee_schedules?items=1',
      '/locations/1/patients',
      '/locations/ID/insurance_plans?q[fetch_modified_since]=2100-01-01T00:00:00Z',
      '/teeth',
    ]) {
      const [expected, actual] = [
        await real(path.replace('ID', location.id)),
        await ours(path.replace('ID', practice.locationId)),
      ]
      assert.deepEqual(shapeOf(actual), shapeOf(expected), path)
    }
  })
})

type Finding = { check: string; result: string; text: string; advice?: string }

/** The text with one mistake. */
function changed(text: string, from: string, to: string): string {
  assert.equal(text.split(from).length, 2, `the sample has ${from} once`)
  return text.replace(from, () => to)
}

/** The sample as a program of its own, with an empty copy. */
function someProgram(t: TestContext, text = sample) {
  const folder = someFolder(t)
  const file = join(folder, 'sync.mjs')
  writeFileSync(file, text)
  const program = ['sh', '-c', 'cd "$0" && exec "$@"', folder, process.execPath, file]
  return { env: { HOME: folder, PATH: process.env.PATH ?? '' }, program, visible: shell([...program, 'visible']) }
}

async function check(env: Record<string, string>, options: string[], program: readonly string[]) {
  const { code, out, err } = await command(['doctor', '--json', '--integration', ...options, '--', ...program], env)
  assert.notEqual(out, '', err)
  const findings = out
    .trim()
    .split('\n')
    .map((line): Finding => JSON.parse(line))
  return { code, findings }
}

function checkPatients(env: Record<string, string>, visible: string, program: readonly string[]) {
  return check(env, ['--dataset', 'patients', '--visible', visible], program)
}

function failed(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ result }) => result === 'problem')
}

function shell(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' ')
}

async function readerOf({
  baseUrl,
  clientId,
  clientSecret,
}: {
  baseUrl: string
  clientId: string
  clientSecret: string
}) {
  const response = await fetch(`${baseUrl}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: clientId, client_secret: clientSecret }),
  })
  const { token } = (await response.json()) as { token: string }
  return async (path: string) => {
    const answer = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })
    const body = (await answer.json()) as { code?: string }
    return { status: answer.status, code: body.code, body }
  }
}

/** The members of a value, and of what they hold. Of a list its first element, or its first row of a dataset. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value))
    return value.length === 0 ? [] : [shapeOf(value.find(({ type }) => type === 'dataset') ?? value[0])]
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' || value === undefined ? value && 1 : 'a value'
  return Object.fromEntries(
    Object.entries(value)
      .toSorted()
      .map(([name, member]) => [name, shapeOf(member)]),
  )
}
