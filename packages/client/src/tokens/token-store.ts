import { inTurn } from '../turns.ts'

export type StoredToken = {
  token: string
  /** When it was received and when it ends, in milliseconds of this machine's clock. */
  receivedAtMs: number
  expiresAtMs: number
}

/** Where tokens are kept between calls, or between processes. `key` stands for a service and a key pair, and reveals neither. */
export type TokenStore = {
  read: (key: string) => Promise<StoredToken | null>
  write: (key: string, token: StoredToken) => Promise<void>
  /**
   * Runs `work` while no other user of this store runs theirs for the key: what makes many processes ask for one token. `signal` fires when
   * no call waits for the token any more.
   */
  alone: <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>
}

/** Keeps tokens as long as the process lives. The default. */
export function memoryTokenStore(): TokenStore {
  const tokens = new Map<string, StoredToken>()
  const turns = new Map<string, Promise<unknown>>()
  return {
    async read(key) {
      return tokens.get(key) ?? null
    },
    async write(key, token) {
      tokens.set(key, token)
    },
    alone: (key, work) => inTurn(turns, key, work),
  }
}
