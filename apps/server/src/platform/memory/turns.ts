/** A share of what all may hold at one time. */
export type Turn = {
  /** Changes its weight, for example when it is known how much the work really needs. It never refuses work. */
  resize: (weight: number) => void
  /** Safe to call again. */
  end: () => void
}

export type TurnOptions = {
  /** Weight of all turns together, and of those of one key. A single turn may have more, when nothing else is held. */
  max: number
  keyMax: number
  /** A wait that takes longer is refused. */
  waitMs: number
  /** How many may wait, in all and for one key: more are refused at once. */
  waitingMax: number
  keyWaitingMax?: number
  refusal: () => Error
}

export type Turns = {
  (key: string, weight?: number): Promise<Turn>
  /** A turn where none waits and there is room, as for most; null: it has to be waited for. */
  atOnce: (key: string, weight?: number) => Turn | null
}

type Waiting = { key: string; weight: number; go: () => void }

/**
 * Gives turns in the order in which they were asked for, but first to the key that holds least. A key that holds all that it may is passed over,
 * so its queue delays no other key. What waits for room in the whole is not overtaken: a heavy turn would otherwise wait for ever.
 */
export function createTurns(options: TurnOptions): Turns {
  const { max, keyMax, waitMs, waitingMax, keyWaitingMax = waitingMax, refusal } = options
  const held = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let total = 0

  const add = (key: string, weight: number) => {
    total += weight
    const left = (held.get(key) ?? 0) + weight
    if (left === 0) held.delete(key)
    else held.set(key, left)
  }

  const next = (): Waiting | undefined => {
    let best: Waiting | undefined
    const seen = new Set<string>()
    for (const each of waiting) {
      // Only the first of a key: the others wait behind it.
      if (seen.has(each.key)) continue
      seen.add(each.key)
      const has = held.get(each.key) ?? 0
      if (has > 0 && has + each.weight > keyMax) continue
      if (best === undefined || has < (held.get(best.key) ?? 0)) best = each
    }
    return best && (total === 0 || total + best.weight <= max) ? best : undefined
  }

  const admit = () => {
    for (let chosen = next(); chosen; chosen = next()) {
      waiting.delete(chosen)
      add(chosen.key, chosen.weight)
      chosen.go()
    }
  }

  const turnOf = (key: string, weight: number): Turn => {
    let has = weight
    const resize = (to: number) => {
      add(key, to - has)
      has = to
      admit()
    }
    return {
      resize(to) {
        if (has > 0) resize(to)
      },
      end() {
        if (has > 0) resize(0)
      },
    }
  }

  const atOnce = (key: string, asked = 1): Turn | null => {
    const weight = Math.min(asked, keyMax, max)
    const has = held.get(key) ?? 0
    const hasRoom = (has === 0 || has + weight <= keyMax) && (total === 0 || total + weight <= max)
    if (waiting.size > 0 || !hasRoom) return null
    add(key, weight)
    return turnOf(key, weight)
  }

  const take = (key: string, asked = 1): Promise<Turn> => {
    // There is nothing to watch, so it costs no timer.
    const turn = atOnce(key, asked)
    if (turn) return Promise.resolve(turn)
    const weight = Math.min(asked, keyMax, max)
    return new Promise((resolve, reject) => {
      const refuse = () => {
        waiting.delete(mine)
        reject(refusal())
        // It may have been the one that was not overtaken.
        admit()
      }
      const timer = setTimeout(refuse, waitMs)
      const mine: Waiting = {
        key,
        weight,
        go() {
          clearTimeout(timer)
          resolve(turnOf(key, weight))
        },
      }
      waiting.add(mine)
      admit()
      if (!waiting.has(mine)) return
      const ofKey = [...waiting].filter((each) => each.key === key).length
      if (waiting.size <= waitingMax && ofKey <= keyWaitingMax) return
      clearTimeout(timer)
      refuse()
    })
  }
  return Object.assign(take, { atOnce })
}
