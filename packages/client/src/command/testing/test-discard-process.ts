// What the service alone can send: follows the Link header and throws the bytes away. Arguments: base URL of the list, token. Says on stdout how long it took.
const [, , list = '', token = ''] = process.argv
const beganAt = performance.now()
let query: string | null = '?items=5000'
while (query !== null) {
  const response: Response = await fetch(list + query, { headers: { authorization: `Bearer ${token}` } })
  if (response.status !== 200 || !response.body) throw new Error(`status ${response.status}`)
  for await (const _ of response.body) {
    // Thrown away.
  }
  query = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null
}
const { user, system } = process.cpuUsage()
process.stdout.write(
  JSON.stringify({ seconds: (performance.now() - beganAt) / 1000, cpuSeconds: (user + system) / 1e6 }),
)
