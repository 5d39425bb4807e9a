import { createHash, type KeyObject, sign, verify } from 'node:crypto'
import { isReleaseVersion } from './release.ts'

/** What is signed of a release: the file holds exactly this program. */
type Manifest = { readonly format: 1; readonly version: string; readonly size: number; readonly sha256: string }

/** A release that is not taken; the message says why. */
export class UpdateRefused extends Error {}

/** Before the manifest, so that a signature made for something else is none for this. */
const purpose = 'bridgework-agent release\n'

/** A release as one file: the signature (base64), the manifest (JSON), each on a line, and the program. */
export function sealRelease(version: string, program: Buffer, privateKey: KeyObject): Buffer {
  const manifest: Manifest = { format: 1, version, size: program.length, sha256: sha256(program) }
  const text = JSON.stringify(manifest)
  const signature = sign(null, Buffer.from(purpose + text), privateKey).toString('base64')
  return Buffer.concat([Buffer.from(`${signature}\n${text}\n`), program])
}

/** The version and the program of a release, or an `UpdateRefused`. Nothing of it is believed before its signature was verified. */
export function openRelease(file: Buffer, publicKey: KeyObject): { version: string; program: Buffer } {
  const first = file.indexOf('\n')
  const second = file.indexOf('\n', first + 1)
  if (first < 0 || second < 0 || second > 1000) throw new UpdateRefused('The file is not a release of the agent.')
  const text = file.toString('utf8', first + 1, second)
  const written = file.toString('latin1', 0, first)
  const signature = Buffer.from(written, 'base64')
  // A text with other bits at its end would be the same signature.
  const isOne = signature.toString('base64') === written
  if (!isOne || !verify(null, Buffer.from(purpose + text), publicKey, signature)) {
    throw new UpdateRefused('The release is not signed with the key that this agent knows.')
  }
  // Signed by us, so it has our form; a later form has another number.
  const manifest = JSON.parse(text) as Manifest
  if (manifest.format !== 1) throw new UpdateRefused('The release needs a newer agent: install the package.')
  // It becomes the name of a file.
  if (!isReleaseVersion(manifest.version)) {
    throw new UpdateRefused(`The version ${JSON.stringify(manifest.version)} is not of the form 1.2.3.`)
  }
  const program = file.subarray(second + 1)
  if (program.length !== manifest.size || sha256(program) !== manifest.sha256) {
    throw new UpdateRefused('The release is not whole: size or hash differ.')
  }
  return { version: manifest.version, program }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
