import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Ceremony = { challenge: string; rp?: { id?: string }; rpId?: string }

/** What is not as it should be in one ceremony. */
export type Flaw = { origin?: string; rpId?: string; counter?: number; isUserVerified?: boolean }

/**
 * A security key in software: makes and uses one ES256 passkey as a browser and a device together would (W3C WebAuthn 3, 6.1 and 6.5.1), and
 * can be set to do it wrong.
 */
export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  let counter = 0

  const authenticatorData = (rpId: string, flaw: Flaw, attested: Buffer) => {
    counter = flaw.counter ?? counter + 1
    const flags = 0x01 | ((flaw.isUserVerified ?? true) ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0)
    const head = Buffer.alloc(37)
    hash(flaw.rpId ?? rpId).copy(head)
    head.writeUInt8(flags, 32)
    head.writeUInt32BE(counter, 33)
    return Buffer.concat([head, attested])
  }
  const clientData = (type: string, challenge: string, flaw: Flaw) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: flaw.origin ?? origin, crossOrigin: false }))
  const envelope = (response: object) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    register: (options: Ceremony, flaw: Flaw = {}) => {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      // COSE_Key: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
      const key = Buffer.concat([
        Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
        cborBytes(Buffer.from(x, 'base64url')),
        Buffer.from([0x22]),
        cborBytes(Buffer.from(y, 'base64url')),
      ])
      const length = Buffer.from([0, id.length])
      const data = authenticatorData(options.rp?.id ?? '', flaw, Buffer.concat([Buffer.alloc(16), length, id, key]))
      // {"fmt": "none", "attStmt": {}, "authData": data}
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        cborBytes(data),
      ])
      return envelope({
        clientDataJSON: clientData('webauthn.create', options.challenge, flaw).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      })
    },
    signIn: (options: Ceremony, flaw: Flaw = {}) => {
      const client = clientData('webauthn.get', options.challenge, flaw)
      const data = authenticatorData(options.rpId ?? '', flaw, Buffer.alloc(0))
      const signature = sign('sha256', Buffer.concat([data, createHash('sha256').update(client).digest()]), privateKey)
      return envelope({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      })
    },
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}

function cborBytes(bytes: Buffer): Buffer {
  const head = bytes.length < 256 ? [0x58, bytes.length] : [0x59, bytes.length >> 8, bytes.length & 255]
  return Buffer.concat([Buffer.from(head), bytes])
}
