/** The ways to make a first call. */
export const snippetKinds = ['curl', 'typescript', 'command'] as const
export type SnippetKind = (typeof snippetKinds)[number]

/** What the quickstart's address holds. */
export function snippetSearch({ with: kind }: Record<string, unknown>): { with?: SnippetKind } {
  const found = snippetKinds.find((known) => known === kind)
  return found && found !== 'curl' ? { with: found } : {}
}

type Snippet = { label: string; code: string }

/** What one pastes to make a first call. The secret is never in it: it is asked for, or read from the environment. */
export function snippetsOf(kind: SnippetKind, baseUrl: string, clientId: string): Snippet[] {
  if (kind === 'curl') {
    return [
      {
        label: 'In a shell',
        code: `base=${baseUrl}
client_id=${clientId}
printf 'Client secret: ' && read -rs client_secret && echo

token=$(curl -s "$base/auth/token" -H 'Content-Type: application/json' \\
  -d "{\\"client_id\\":\\"$client_id\\",\\"client_secret\\":\\"$client_secret\\"}" | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
curl -s "$base/locations" -H "Authorization: Bearer $token"`,
      },
    ]
  }
  if (kind === 'typescript') {
    return [
      { label: 'Install', code: 'npm install @bridgework/client' },
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
      { label: 'Run', code: 'BRIDGEWORK_CLIENT_SECRET=<your secret> node first-call.ts' },
    ]
  }
  return [
    {
      label: 'In a shell',
      code: `export BRIDGEWORK_BASE_URL=${baseUrl}
export BRIDGEWORK_CLIENT_ID=${clientId}
printf 'Client secret: ' && read -rs BRIDGEWORK_CLIENT_SECRET && echo && export BRIDGEWORK_CLIENT_SECRET

npx @bridgework/client locations
npx @bridgework/client doctor`,
    },
    { label: 'Keep a copy', code: 'npx @bridgework/client mirror --to sqlite:practices.sqlite --every 5m' },
  ]
}
