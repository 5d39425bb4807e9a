/** The ways to make a first call. */
export const snippetKinds = ['curl', 'typescript', 'command'] as const
export type SnippetKind = (typeof snippetKinds)[number]

/** What the quickstart's address holds. */
export function snippetSearch({ with: kind }: Record<string, unknown>): { with?: SnippetKind } {
  const found = snippetKinds.find((known) => known === kind)
  return found && found !== 'curl' ? { with: found } : {}
}

export type Snippet = { label: string; code: string }

/** `clientUrl`: the client's package as this service hands it out; null: it has none, and the operator gives its file. */
type Given = { baseUrl: string; clientId: string; clientUrl: string | null }

/**
 * What one pastes into bash or zsh, in this order, to get a first record. The secret is in none of them, and on no command line: it is asked
 * for, as the last thing that a snippet does, because a shell may take what was pasted after that for the answer.
 */
export function snippetsOf(kind: SnippetKind, given: Given): Snippet[] {
  if (kind === 'curl') return curlSnippets(given)
  const install = {
    label: `Install the client (Node 20.3 or newer${given.clientUrl === null ? '; ask the operator of this service for its file' : ''})`,
    // Never by a name: who registers that name at npm would get the key pair.
    code: `npm install ${given.clientUrl ?? './bridgework-client.tgz'}`,
  }
  return [install, ...(kind === 'typescript' ? typeScriptSnippets(given) : commandSnippets(given))]
}

function curlSnippets({ baseUrl, clientId }: Given): Snippet[] {
  return [
    {
      label: 'Enter the secret',
      code: `base='${baseUrl}'
client_id='${clientId}'
printf 'Client secret: ' && read -rs client_secret && echo`,
    },
    {
      label: 'Get a token',
      code: `token=$(printf '{"client_id":"%s","client_secret":"%s"}' "$client_id" "$client_secret" |
  curl -s "$base/auth/token" -H 'Content-Type: application/json' -d @- |
  sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
get() { printf 'Authorization: Bearer %s' "$token" | curl -s -H @- "$base$1"; }`,
    },
    {
      label: 'Read a record of the first location',
      code: `location=$(get /locations | sed 's/.*"data":\\[{"id":"\\([^"]*\\)".*/\\1/')
get "/locations/$location/insurance_plans?items=1"`,
    },
  ]
}

function typeScriptSnippets({ baseUrl, clientId }: Given): Snippet[] {
  return [
    {
      label: 'first-call.ts',
      code: `import { env } from 'node:process'
import { Bridgework } from '@bridgework/client'

const client = new Bridgework({
  baseUrl: '${baseUrl}',
  clientId: '${clientId}',
  clientSecret: env.BRIDGEWORK_CLIENT_SECRET ?? '',
})

for await (const location of client.locations.list()) {
  console.log(location.id, location.attributes.name)
  for await (const plan of client.insurancePlans.list({ locationId: location.id })) {
    console.log(plan.id, plan.attributes.plan_name, plan.attributes.is_hidden)
  }
}`,
    },
    enterSecret,
    { label: 'Run (Node 22.18 or newer)', code: 'node first-call.ts' },
  ]
}

function commandSnippets({ baseUrl, clientId }: Given): Snippet[] {
  return [
    {
      label: 'Enter the secret',
      code: `export BRIDGEWORK_BASE_URL='${baseUrl}'
export BRIDGEWORK_CLIENT_ID='${clientId}'
${enterSecret.code}`,
    },
    {
      label: 'Read records',
      code: `npx --no bridgework locations
npx --no bridgework pull insurance_plans --output insurance_plans.csv
npx --no bridgework doctor`,
    },
    {
      label: 'Keep a copy in SQLite (Node 22.13 or newer)',
      code: 'npx --no bridgework mirror --to sqlite:practices.sqlite --every 5m',
    },
  ]
}

const enterSecret = {
  label: 'Enter the secret',
  code: "printf 'Client secret: ' && read -rs BRIDGEWORK_CLIENT_SECRET && echo && export BRIDGEWORK_CLIENT_SECRET",
}
