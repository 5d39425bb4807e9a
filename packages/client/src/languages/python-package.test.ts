import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { aPlan, someClient } from '../testing/test-client.ts'
import { clientVersion } from '../version.ts'
import { pythonPackage, pythonWith, someFolder } from './testing/test-python.ts'

const run = promisify(execFile)

test('the wheel of the Python package has everything that it needs, and the README’s examples run on it', async (t) => {
  const { wheel, folder } = await someWheel(t)
  const { world, vendor, location } = await someClient(t, { insurancePlans: 3 })
  await location.upload('insurance_plans', { fresh: aPlan({ plan_name: 'Zoë 😀' }) })
  const env = {
    ...process.env,
    // Python imports from a wheel as it is.
    PYTHONPATH: wheel,
    XDG_CONFIG_HOME: folder,
    PYTHONIOENCODING: 'utf-8',
    BRIDGEWORK_BASE_URL: world.url,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  const python = (...args: string[]) => run(pythonWith('setuptools'), args, { cwd: folder, env })

  const files = (await python('-m', 'zipfile', '-l', wheel)).stdout
  for (const name of ['bridgework/py.typed', 'bridgework/mirror.json', 'LICENSE']) assert.match(files, new RegExp(name))
  assert.doesNotMatch(files, /test/)
  assert.equal((await python('-m', 'bridgework', '--version')).stdout, `${clientVersion}\n`)
  const examples = exampleOf(readFileSync(join(pythonPackage, 'README.md'), 'utf8'))
  assert.deepEqual(Object.keys(examples), ['sync', 'read'])
  for (const [name, code] of Object.entries(examples)) writeFileSync(join(folder, `${name}.py`), code)
  assert.equal((await python('sync.py')).stdout, '2 datasets are current, 4 records were written\n')
  const { stdout } = await python('read.py')
  assert.match(stdout, /^\d+ Zoë 😀 False$/m)
  assert.match(stdout, /^404 location_unknown [\w-]{36}$/m)
  // Without the modules that psycopg needs it says what to install.
  const mirror = python('-S', '-m', 'bridgework', 'mirror', '--to', 'postgres://u:secret@localhost/x')
  await assert.rejects(mirror, (error: Error & { stderr?: string }) => {
    assert.equal(error.stderr, 'postgres://u@localhost/x: It needs the package psycopg: pip install psycopg[binary].\n')
    return true
  })
})

test('the types of the Python package hold for its oldest Python', async (t) => {
  const args = ['-m', 'mypy', '--strict', '--python-version', '3.9', '--cache-dir', someFolder(t)]
  const { stdout } = await run(pythonWith('mypy'), [...args, 'bridgework'], { cwd: pythonPackage }).catch((error) => {
    throw new Error(error.stdout, { cause: error })
  })
  assert.match(stdout, /^Success/)
})

/** The wheel as a publisher builds it, of a copy: a build leaves files beside its sources. */
async function someWheel(t: TestContext): Promise<{ wheel: string; folder: string }> {
  const folder = someFolder(t)
  const copy = join(folder, 'source')
  cpSync(pythonPackage, copy, { recursive: true })
  const build = `import setuptools.build_meta as build; build.build_wheel(${JSON.stringify(folder)})`
  await run(pythonWith('setuptools', 'wheel'), ['-W', 'ignore', '-c', build], { cwd: copy })
  const [wheel] = globSync(join(folder, `bridgework-${clientVersion}-py3-none-any.whl`))
  assert.ok(wheel)
  return { wheel, folder }
}

function exampleOf(page: string): Record<string, string> {
  const found = page.matchAll(/<!-- example: (\w+) -->\n```python\n(.*?)```/gs)
  return Object.fromEntries([...found].map(([, name = '', code = '']) => [name, code]))
}
