import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { limits } from '@bridgework/contract'
import { listReleases, publishRelease, withdrawRelease } from '../../../modules/agents/release.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { codeOf } from '../../../platform/errors/error-code.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { list, table } from '../answer.ts'
import { type CommandGroup, command } from '../command-line.ts'
import { releaseVersion, required, text } from '../option.ts'

export const agentRelease: CommandGroup = {
  help: 'releases of the agent, which agents take by themselves where the practice turned that on',
  commands: {
    publish: command({
      help: 'Verifies the signature of a release and offers it to agents. They take it at their next contact.',
      act: 'agent_release.publish',
      options: {
        file: required('<path>', 'the signed release: bridgework-agent-<version>.release', text),
        key: required('<path>', 'the public key (PEM) that the agents were built with: update-key.pem', text),
      },
      run: async ({ pool }, { file, key }, record) => {
        const publicKey = readPublicKey(await readSmallFile(key, 10_000), key)
        const bytes = await readSmallFile(file, limits.agentReleaseBytesMax)
        const data = await publishRelease(pool, bytes, publicKey, (client, { version, sha256 }) =>
          record(client, { version, sha256 }),
        )
        return { data, text: list({ version: data.version, bytes: data.size, 'SHA-256': data.sha256 }) }
      },
    }),
    withdraw: command({
      help: 'Offers a release to no agent any more. Agents that run it keep it.',
      act: 'agent_release.withdraw',
      options: { version: required('<version>', 'the version, like 1.2.3', releaseVersion) },
      run: async ({ pool }, { version }, record) => {
        await withTransaction(pool, async (client) => {
          await withdrawRelease(client, version)
          await record(client, { version })
        })
        return { data: { version }, text: `Withdrew version ${version}. Agents that run it keep it.` }
      },
    }),
    list: command({
      help: 'Lists the releases, the last published first.',
      act: null,
      options: {},
      run: async ({ pool }) => {
        const data = await listReleases(pool)
        const rows = data.map((each) => [
          each.version,
          each.withdrawnAt === null ? 'published' : 'withdrawn',
          each.size,
          each.sha256,
          each.publishedAt,
          each.withdrawnAt,
        ])
        return { data, text: table(['version', 'state', 'bytes', 'SHA-256', 'published', 'withdrawn'], rows) }
      },
    }),
  },
}

async function readSmallFile(path: string, bytesMax: number): Promise<Buffer> {
  const refuse = (because: string | undefined) =>
    new Problem('field_invalid', { errors: `Cannot read the file ${path} (${because}).` })
  try {
    const { size } = await stat(path)
    if (size > bytesMax) throw refuse(`larger than ${bytesMax} bytes`)
    return await readFile(path)
  } catch (error) {
    throw error instanceof Problem ? error : refuse(codeOf(error))
  }
}

function readPublicKey(pem: Buffer, path: string): KeyObject {
  const refusal = new Problem('field_invalid', { errors: `The file ${path} is not a public key (Ed25519) as PEM.` })
  // A private key has a public half, too; it must not lie on the service's machine.
  if (pem.includes('PRIVATE')) throw refusal
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    throw refusal
  }
  throw refusal
}
