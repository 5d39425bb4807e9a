import { createHmac } from 'node:crypto'
import { isSameHash, type SecretKey } from '../credentials/secret.ts'

/** Secrets as better-auth takes them: the first one makes what is new, each opens what names its version. */
type Secrets = { version: number; value: string }[]

/**
 * better-auth's secrets of every secret key, the current one first. `secret` opens what names no version: second factors from before the first
 * rotation, so under the oldest key.
 */
export function authSecretsOf(secretKey: SecretKey): { secret: string; secrets: Secrets } {
  const current = { version: secretVersion(secretKey.id), value: secretKey.sessionSecret }
  const others = secretKey
    .all()
    .filter(({ id }) => id !== secretKey.id)
    .map(({ id, sessionSecret }) => ({ version: secretVersion(id), value: sessionSecret }))
  return {
    secret: secretKey.all()[0]?.sessionSecret ?? secretKey.sessionSecret,
    secrets: [current, ...others],
  }
}

/** A whole number that names a secret key: the first 12 digits of its id, which a JS number holds. */
export function secretVersion(id: string): number {
  return Number.parseInt(id.slice(0, 12), 16)
}

/**
 * A Cookie header in which every cookie that was signed with another secret key has the signature of the current one, which is the only one that
 * better-auth checks. So sessions outlast a rotation, and a process that is a step behind takes what one ahead has signed. The browser gets
 * a cookie of the current key when the session is next prolonged.
 */
export function signedWithCurrent(cookies: string, secretKey: SecretKey): string {
  const others = secretKey.all().filter(({ id }) => id !== secretKey.id)
  if (others.length === 0) return cookies
  return cookies
    .split(';')
    .map((cookie) => {
      const [, name = '', text = ''] = /^([^=]*=)(.*)$/s.exec(cookie) ?? []
      const signed = decoded(text)
      const end = signed.lastIndexOf('.')
      if (end < 1) return cookie
      const value = signed.slice(0, end)
      const signature = Buffer.from(signed.slice(end + 1))
      const isOurs = others.some(({ sessionSecret }) => isSameHash(signature, signatureOf(value, sessionSecret)))
      if (!isOurs) return cookie
      return `${name}${encodeURIComponent(`${value}.${signatureOf(value, secretKey.sessionSecret)}`)}`
    })
    .join(';')
}

/** As better-auth signs a cookie's value. */
function signatureOf(value: string, secret: string): Buffer {
  return Buffer.from(createHmac('sha256', secret).update(value).digest('base64'))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
