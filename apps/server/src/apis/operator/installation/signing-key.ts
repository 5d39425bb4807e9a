import { listSigningKeys, rotateSigningKey, withdrawSigningKey } from '../../../modules/credentials/signing-key.ts'
import { table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { required, text } from '../option.ts'

export const signingKey: CommandGroup = {
  help: 'keys that access tokens are signed with',
  commands: {
    list: command({
      help: 'Lists current and earlier signing keys.',
      act: null,
      options: {},
      run: async ({ pool }) => {
        const data = await listSigningKeys(pool)
        const rows = data.map((key) => [key.kid, key.state, key.createdAt, key.retiredAt])
        return { data, text: table(['kid', 'state', 'created', 'retired'], rows) }
      },
    }),
    rotate: command({
      help: 'Creates a new signing key. Tokens signed with the previous key stay valid until they expire.',
      act: 'signing_key.rotate',
      options: {},
      run: async ({ pool, secretKey }, _, record) => {
        const kid = await rotateSigningKey(pool, await secretKey(), (client, kid) => record(client, { kid }))
        return { data: { kid }, text: `New tokens will be signed with ${kid} within a few seconds.` }
      },
    }),
    withdraw: command({
      help: 'Withdraws a compromised key: every token signed with it is refused within a second.',
      act: 'signing_key.withdraw',
      options: { kid: required('<kid>', 'the key', text) },
      run: async ({ pool, secretKey }, { kid }, record) => {
        await withdrawSigningKey(pool, await secretKey(), kid, (client) => record(client, { kid }))
        return {
          data: { kid },
          text: `Withdrew ${kid}. Tokens signed with it are no longer valid; vendors must get new ones.`,
        }
      },
    }),
  },
}
