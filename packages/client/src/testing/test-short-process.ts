// A process that makes one call with the file token store and ends, as a cron job would. Arguments: base URL, file, location.
import { Bridgework } from '../bridgework.ts'
import { fileTokenStore } from '../tokens/file-token-store.ts'

const [, , baseUrl = '', file = '', locationId = ''] = process.argv
const client = new Bridgework({
  baseUrl,
  clientId: process.env.BRIDGEWORK_CLIENT_ID ?? '',
  clientSecret: process.env.BRIDGEWORK_CLIENT_SECRET ?? '',
  tokenStore: fileTokenStore(file),
})
await client.locations.get({ locationId })
