import type { Dataset } from '@bridgework/contract'
import { datasetOf } from './components.ts'

type Sample = { lang: string; label: string; source: string }
type Operation = { path: string; operationId: string; dataset: Dataset | undefined }

/**
 * How an operation is called with curl, with our client in TypeScript, and with requests in Python, each a whole program that reads its
 * settings from the environment: BRIDGEWORK_BASE_URL, which ends with the API's path, and the key pair or a token.
 */
export function codeSamples(path: string, operationId: string): Sample[] {
  const operation = { path, operationId, dataset: datasetOf(operationId) }
  return [
    { lang: 'Shell', label: 'curl', source: curl(operation) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(operation) },
    { lang: 'Python', label: 'Python', source: python(operation) },
  ]
}

const variables: Record<string, string> = {
  organization_id: 'ORGANIZATION_ID',
  location_id: 'LOCATION_ID',
  id: 'RECORD_ID',
}

function curl({ path, operationId }: Operation): string {
  if (operationId === 'auth_token_create') {
    const body = '{\\"client_id\\": \\"$BRIDGEWORK_CLIENT_ID\\", \\"client_secret\\": \\"$BRIDGEWORK_CLIENT_SECRET\\"}'
    return `curl "$BRIDGEWORK_BASE_URL${path}" -H "Content-Type: application/json" \\\n  -d "${body}"`
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variables[name]}`)
  return `curl --compressed "$BRIDGEWORK_BASE_URL${filled}" -H "Authorization: Bearer $BRIDGEWORK_TOKEN"`
}

function typescript(operation: Operation): string {
  const ids = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => variables[name] ?? '')
  const settings = ['BRIDGEWORK_BASE_URL', 'BRIDGEWORK_CLIENT_ID', 'BRIDGEWORK_CLIENT_SECRET']
  const imported = operation.operationId.endsWith('_digest') ? 'Bridgework, sqliteStore' : 'Bridgework'
  return [
    `import { ${imported} } from '@bridgework/client'`,
    '',
    `const { ${[...settings, ...ids].join(', ')} } = process.env`,
    'const client = new Bridgework({',
    "  baseUrl: BRIDGEWORK_BASE_URL ?? '',",
    "  clientId: BRIDGEWORK_CLIENT_ID ?? '',",
    "  clientSecret: BRIDGEWORK_CLIENT_SECRET ?? '',",
    '})',
    ...clientCall(operation),
  ].join('\n')
}

/** The client asks for tokens by itself, and compares a copy where the API has digests. */
function clientCall({ path, operationId, dataset }: Operation): string[] {
  const name = dataset?.name
  const resource = camel(name ?? path.split('/')[1] ?? '')
  if (operationId === 'auth_token_create') {
    return [
      '// The client gets a token at its first call and keeps it.',
      'await client.locations.list().pages().next()',
    ]
  }
  if (operationId.endsWith('_digest')) {
    return [
      "const store = await sqliteStore('copy.sqlite')",
      `await client.sync({ store, datasets: ['${name}'] })`,
      `console.log(await client.verify({ store, datasets: ['${name}'] }))`,
      'await store.close()',
    ]
  }
  const location = "locationId: LOCATION_ID ?? ''"
  if (operationId.endsWith('_export')) {
    return [
      '// Each record is the JSON that the service sent.',
      `for await (const page of client.${resource}.export({ ${location} })) {`,
      '  for (const record of page.records) console.log(Buffer.from(record).toString())',
      '}',
    ]
  }
  if (operationId === 'locations_sync_status_get')
    return [`console.log(await client.locations.syncStatus({ ${location} }))`]
  if (operationId.endsWith('_list')) {
    const options = name === undefined ? '' : `{ ${location} }`
    return [
      `for await (const record of client.${resource}.list(${options})) {`,
      '  console.log(record.id, record.attributes)',
      '}',
    ]
  }
  const organization = "organizationId: ORGANIZATION_ID ?? ''"
  const ids = name ? `${location}, id: RECORD_ID ?? ''` : resource === 'locations' ? location : organization
  return [`console.log(await client.${resource}.get({ ${ids} }))`]
}

function python({ path, operationId, dataset }: Operation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{os.environ['${variables[name]}']}`)
  const url = `f"{os.environ['BRIDGEWORK_BASE_URL']}${filled}"`
  const head = ['import os', '', 'import requests', '', `url = ${url}`]
  if (operationId === 'auth_token_create') {
    return [
      ...head,
      'pair = {',
      '    "client_id": os.environ["BRIDGEWORK_CLIENT_ID"],',
      '    "client_secret": os.environ["BRIDGEWORK_CLIENT_SECRET"],',
      '}',
      'answer = requests.post(url, json=pair, timeout=60)',
      'answer.raise_for_status()',
      'print(answer.json()["token"])',
    ].join('\n')
  }
  const headers = `headers = {"Authorization": f"Bearer {os.environ['BRIDGEWORK_TOKEN']}"}`
  if (operationId.endsWith('_export')) {
    return [
      'import json',
      ...head,
      headers,
      'with requests.get(url, headers=headers, stream=True, timeout=60) as answer:',
      '    answer.raise_for_status()',
      '    for line in answer.iter_lines():',
      '        record = json.loads(line)',
      '        print(record.get("id", record.get("meta")))',
    ].join('\n')
  }
  if (!operationId.endsWith('_list')) {
    return [
      ...head,
      headers,
      'answer = requests.get(url, headers=headers, timeout=60)',
      'answer.raise_for_status()',
      'print(answer.json()["data"])',
    ].join('\n')
  }
  const isByCursor = dataset?.pagination === 'cursor' || operationId === 'changes_list'
  const [parameter, next] = isByCursor ? ['after', 'next_after'] : ['page', 'next_page']
  return [
    ...head,
    headers,
    'params = {"items": 1000}',
    'while True:',
    '    answer = requests.get(url, headers=headers, params=params, timeout=60)',
    '    answer.raise_for_status()',
    '    body = answer.json()',
    '    for record in body["data"]:',
    '        print(record["id"], record["attributes"])',
    '    if not body["meta"]["has_more"]:',
    '        break',
    `    params["${parameter}"] = body["meta"]["${next}"]`,
  ].join('\n')
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
