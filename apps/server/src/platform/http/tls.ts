import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions, type Server } from 'node:tls'
import { codeOf } from '../errors/error-code.ts'
import type { Log } from '../log/log-event.ts'
import { createLoop } from '../loop/loop.ts'

/** PEM files: the certificate with those of its issuers, and its private key. */
export type TlsFiles = { certificateFile: string; keyFile: string }

/** Certificate and key cannot be used. The message is one line for the person who starts the server. */
export class TlsFileError extends Error {}

/** What the server speaks: TLS 1.3 and 1.2, and in 1.2 only suites with forward secrecy and authenticated encryption. */
const protocol = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
  honorCipherOrder: true,
} as const satisfies SecureContextOptions

/** The options of a TLS server with this pair. Throws TlsFileError for a file that cannot be read and a pair that does not fit. */
export function readTlsPair({ certificateFile, keyFile }: TlsFiles): SecureContextOptions {
  const pair = { cert: read(certificateFile), key: read(keyFile) }
  let validTo: Date
  try {
    createSecureContext({ ...protocol, ...pair })
    validTo = new X509Certificate(pair.cert).validToDate
  } catch (cause) {
    throw new TlsFileError(
      `The certificate ${certificateFile} and the key ${keyFile} cannot be used (${codeOf(cause) ?? 'unknown'}). Both must be PEM, the key without a password, and belong together.`,
      { cause },
    )
  }
  if (validTo < new Date()) throw new TlsFileError(`The certificate ${certificateFile} has expired. Renew it.`)
  return { ...protocol, ...pair }
}

/**
 * Gives new connections the pair that the files hold, within `pollMs` of a change. A pair that cannot be used is logged once, and the one before
 * stays. Reading beats watching: certificates are renewed by changing links, of which a watch tells nothing. Returns what stops it.
 */
export function followTlsFiles(server: Server, files: TlsFiles, log: Log, pollMs = 5_000): () => Promise<void> {
  const hashOfFiles = () =>
    createHash('sha256').update(read(files.certificateFile)).update(read(files.keyFile)).digest('hex')
  let seen = hashOfFiles()
  const follow = () => {
    let now = 'unreadable'
    try {
      now = hashOfFiles()
      if (now === seen) return
      server.setSecureContext(readTlsPair(files))
      log({ event: 'tls.reloaded' })
    } catch (error) {
      if (!(error instanceof TlsFileError)) throw error
      if (now !== seen) log({ event: 'server.warning', text: `${error.message} The earlier certificate stays in use.` })
    }
    seen = now
  }
  const loop = createLoop({ steps: { 'follow the certificate': follow }, everyMs: pollMs, log })
  loop.start()
  return loop.stop
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new TlsFileError(`The file ${file} cannot be read (${codeOf(cause)}).`, { cause })
  }
}
