import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Ajv } from 'ajv'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Job } from 'kubernetes-models/batch/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../apps/server/src/config.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { renderChart } from './test-chart.ts'

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'deploy/chart')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

type Named = { name: string }
type Container = {
  command?: string[]
  env: (Named & { value: string })[]
  securityContext: object
  volumeMounts: object[]
}
type Pod = {
  spec: { containers: [Container]; securityContext: object; volumes: { secret?: { items: { path: string }[] } }[] }
}
type Resource = {
  kind: string
  metadata: Named & { annotations?: Record<string, string> }
  spec: { template: Pod; replicas: number; rules: { http: { paths: { path: string; backend: unknown }[] } }[] }
}

const kinds = { Deployment, Job, Ingress, NetworkPolicy, PodDisruptionBudget, Service }

test('the chart makes resources that Kubernetes takes, also with every part off', () => {
  const all = render()
  assert.deepEqual(
    all.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [
      'Job bw-migrate',
      'Service bw',
      'Service bw-metrics',
      'Ingress bw',
      'NetworkPolicy bw',
      'Deployment bw',
      'PodDisruptionBudget bw',
    ],
  )
  const few = render({ ingress: { enabled: false }, networkPolicy: { enabled: false } })
  assert.equal(few.length, 5)
  for (const resource of [...all, ...few]) {
    const Kind = kinds[resource.kind as keyof typeof kinds]
    new Kind(resource as never).validate()
  }
  const wrong = { ...all[1], spec: { ports: [{ port: 'eighty' }] } }
  assert.throws(() => new Service(wrong as never).validate())
})

test('the chart’s values have the version of the release and are what their schema says', () => {
  const { version, appVersion } = parse(read('deploy/chart/Chart.yaml'))
  assert.deepEqual([version, appVersion], [releaseVersion, releaseVersion])
  assert.ok(read('deploy/compose.yaml').includes(`\${BRIDGEWORK_VERSION:-${releaseVersion}}`))
  const isValid = new Ajv().compile(JSON.parse(read('deploy/chart/values.schema.json')))
  assert.ok(isValid(values()), JSON.stringify(isValid.errors))
  for (const wrong of [{ publicUrl: 'http://api.example.com' }, { replica: 2 }, { settings: { DATABASE_URL: 'x' } }]) {
    assert.equal(isValid({ ...values(), ...wrong }), false, JSON.stringify(wrong))
  }
})

test('the chart’s pods start with the settings that they get, without rights, and servers cannot change the schema', (t) => {
  for (const [kind, pooler] of ['Deployment', 'Job'].flatMap((each) => [
    [each, false] as const,
    [each, true] as const,
  ])) {
    const { template } = get(kind, { pooler }).spec
    const [container] = template.spec.containers
    const names = template.spec.volumes.flatMap(({ secret }) => secret?.items ?? []).map(({ path }) => path)
    const folder = secretsFolder(t, names)
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value.replace('/secrets', folder)]))
    const { database, mail } = readConfig({ ...imageEnvironment(), ...env }, '/')
    assert.ok(database.kind === 'server' && database.migrations === 'apart')
    assert.equal(database.migrationUrl === null, kind === 'Deployment')
    assert.equal(database.directUrl !== null, pooler)
    if (kind === 'Deployment') assert.equal(mail.kind, 'smtp')
    assert.deepEqual(container.securityContext, {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(read('Dockerfile')) ?? []
    assert.deepEqual(template.spec.securityContext, {
      runAsNonRoot: true,
      runAsUser: Number(user),
      runAsGroup: Number(group),
      fsGroup: Number(group),
      seccompProfile: { type: 'RuntimeDefault' },
    })
  }
  assert.equal(get('Job').metadata.annotations?.['helm.sh/hook'], 'pre-install,pre-upgrade')
})

test('the ingress and the proxy do not show /readyz and /metrics to the world', () => {
  const [readyz, all] = get('Ingress').spec.rules[0]?.http.paths ?? []
  // That port answers 404 to every path but /metrics (see metrics-route.test.ts).
  assert.deepEqual(
    [readyz?.path, readyz?.backend],
    ['/readyz', { service: { name: 'bw-metrics', port: { name: 'metrics' } } }],
  )
  assert.equal(all?.path, '/')
  const names = get('Deployment').spec.template.spec.containers[0].env.map(({ name }) => name)
  assert.ok(names.includes('BRIDGEWORK_METRICS_ADDRESS'), 'so the servers’ own port has no /metrics')
  assert.match(read('deploy/compose/Caddyfile'), /@inside path \/readyz \/metrics\n\s*respond @inside 404/)
})

test('compose.yaml starts servers with their settings, from the secrets that the script makes', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  copyFileSync(join(root, 'deploy/compose/make-secrets.sh'), join(folder, 'make-secrets.sh'))
  const made = () => spawnSync('sh', ['make-secrets.sh'], { cwd: folder, encoding: 'utf8' })
  assert.equal(made().status, 0)
  const secrets = join(folder, 'secrets')
  const before = readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'))
  assert.equal(made().status, 1, 'a second run changes nothing')
  assert.deepEqual(
    readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8')),
    before,
  )
  for (const name of readdirSync(secrets)) assert.equal(statSync(join(secrets, name)).mode & 0o777, 0o600, name)

  const compose = parse(read('deploy/compose.yaml').replaceAll(/\$\{BRIDGEWORK_DOMAIN[^}]*\}/g, 'api.example.com'), {
    merge: true,
  })
  const files = Object.values<{ file: string }>(compose.secrets).map(({ file }) =>
    file.replace('./compose/secrets/', ''),
  )
  assert.deepEqual(files.toSorted(), readdirSync(secrets).toSorted())
  for (const name of ['server', 'migrate']) {
    const { environment, read_only, cap_drop } = compose.services[name]
    assert.deepEqual([read_only, cap_drop], [true, ['ALL']])
    const env = Object.entries<string>(environment).map(([key, value]) => [key, value.replace('/run/secrets', secrets)])
    const { database } = readConfig({ ...imageEnvironment(), ...Object.fromEntries(env) }, '/')
    assert.ok(database.kind === 'server' && database.migrations === 'apart')
    assert.equal(database.migrationUrl === null, name === 'server')
  }
})

function values(): Record<string, unknown> {
  return parse(read('deploy/chart/values.yaml'))
}

function render(changed: object = {}): Resource[] {
  const data = {
    Values: {
      ...values(),
      settings: { BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans' },
      mailFrom: 'Bridgework <portal@example.com>',
      ...changed,
    },
    Release: { Name: 'bw' },
    Chart: { AppVersion: releaseVersion },
  }
  return renderChart(chart, data).flatMap((text) =>
    parseAllDocuments(text)
      .map((document) => {
        assert.deepEqual(document.errors, [])
        return document.toJSON() as Resource | null
      })
      .filter((resource) => resource !== null),
  )
}

function get(kind: string, changed: object = {}): Resource {
  const found = render(changed).find((resource) => resource.kind === kind)
  assert.ok(found)
  return found
}

/** What the image itself sets. */
function imageEnvironment(): Record<string, string> {
  return Object.fromEntries(
    [...read('Dockerfile').matchAll(/^(?:ENV| {3}) (\w+)=(\S+)/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

function secretsFolder(t: TestContext, names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const text: Record<string, string> = {
    metrics_token: 'a-token-of-at-least-32-characters-0123',
    smtp_url: 'smtp://user:password@mail.example.com:587',
  }
  for (const name of names) writeFileSync(join(folder, name), text[name] ?? 'postgres://role:password@db/bridgework')
  return folder
}
