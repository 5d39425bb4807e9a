import { listSigningKeys, rotateSigningKey, withdrawSigningKey } from '../../modules/credentials/signing-key.ts'
import { table } from './answer.ts'
import { type CommandGroup, command } from './command-line.ts'
import { required, text } from './option.ts'

export const signingKey: CommandGroup = {
  help: 'keys that access tokens are signed with',
  commands: {
    list: command({
      help: 'The keys that there are and were.',
      options: {},
      run: async ({ pool }) => {
        const data = await listSigningKeys(pool)
        const rows = data.map((key) => [key.kid, key.state, key.createdAt, key.retiredAt])
        return { data, text: table(['kid', 'state', 'created', 'retired'], rows) }
      },
    }),
    rotate: command({
      help: 'Makes a new key. Tokens of the one before stay valid until they expire.',
      options: {},
      run: async ({ pool, secretKey }) => {
        const kid = await rotateSigningKey(pool, await secretKey())
        return { data: { kid }, text: `New tokens are signed with ${kid} in a few seconds.` }
      },
    }),
    withdraw: command({
      help: 'Ends a key that others may know: every token signed with it is refused within a second.',
      options: { kid: required('<kid>', 'the key', text) },
      run: async ({ pool, secretKey }, { kid }) => {
        await withdrawSigningKey(pool, await secretKey(), kid)
        return { data: { kid }, text: `No token signed with ${kid} is valid any more: vendors have to get new ones.` }
      },
    }),
  },
}
