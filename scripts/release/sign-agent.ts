// Signs the agent of this commit as an update: node scripts/release/sign-agent.ts <private key (PEM)>. Writes release/bridgework-agent-<version>.release
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleAgent } from '../../apps/agent/scripts/bundle.mjs'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { sealRelease } from '../../packages/contract/src/signed-release.ts'

const root = join(import.meta.dirname, '../..')
const pinned = join(root, 'deploy/agent/update-key.pem')
const [, , keyFile] = process.argv
if (keyFile === undefined) throw new Error('Usage: node scripts/release/sign-agent.ts <private key (PEM)>')
if (!existsSync(pinned))
  throw new Error(`${pinned} does not exist, so no agent takes updates. See docs/decisions/agent-updates.md.`)
const key = createPrivateKey(readFileSync(keyFile))
const pem = readFileSync(pinned, 'utf8')
if (!createPublicKey(key).equals(createPublicKey(pem))) throw new Error(`${keyFile} is not the key of ${pinned}.`)
const stage = mkdtempSync(join(tmpdir(), 'bridgework-sign-'))
try {
  await bundleAgent(stage, pem)
  mkdirSync(join(root, 'release'), { recursive: true })
  const file = join(root, 'release', `bridgework-agent-${releaseVersion}.release`)
  writeFileSync(file, sealRelease(releaseVersion, readFileSync(join(stage, 'bridgework-agent.js')), key))
  console.log(file)
} finally {
  rmSync(stage, { recursive: true, force: true })
}
