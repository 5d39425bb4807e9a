#!/usr/bin/env node
// Checks a practice's export of its disclosures (disclosures-….ndjson) against the seals in it. One file without dependencies, for Node 20 or
// newer; it shares no code with the service. What is hashed and signed is described in docs/decisions/chain.md.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const usage = `Usage: node verify-disclosures.mjs <export.ndjson> --public-key <key> [--earlier <older export.ndjson>]
  --public-key  the key that you wrote down when you first saw it, or that your contract names; when the service has changed its key
                since, the export shows that the key before signed the change
  --earlier     an export that you kept: shows whether this one continues it
Exit codes: 0 nothing was changed, 1 the file cannot be read, 2 wrong use, 3 something was found.`

const sha256 = (data) => createHash('sha256').update(data).digest()
/** How far the clocks of two servers may differ. */
const clocksDifferMs = 60 * 60_000
const findings = []

try {
  process.exitCode = await main(joined(process.argv.slice(2)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error?.code?.startsWith?.('ERR_PARSE_ARGS') ? 2 : 1
}

/** `--public-key <key>` as one argument: a key may begin with a dash, and would be taken for an option. */
function joined(args) {
  const result = []
  for (const arg of args) result.push(result.at(-1) === '--public-key' ? `${result.pop()}=${arg}` : arg)
  return result
}

async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'public-key': { type: 'string' }, earlier: { type: 'string' } },
  })
  const key = readKey(values['public-key'] ?? '')
  if (positionals.length !== 1 || key === null) {
    console.error(usage)
    return 2
  }
  const keys = trustedKeys(key, await readKeyChanges(positionals[0]))
  const earlier = values.earlier === undefined ? null : await readSeals(values.earlier, keys)
  const { sealed, open, last, dropped, gone } = await check(positionals[0], keys, earlier)
  const until = last === null ? 'No seal yet.' : `The last seal was made at ${last.sealed_at}.`
  console.log(`Checked ${sealed} disclosures. ${until}`)
  if (dropped)
    console.log(
      `The disclosures of ${dropped.month} and before were dropped at ${dropped.dropped_at}: the first ${BigInt(dropped.entries) + BigInt(gone)} of this practice.`,
    )
  if (open > 0) console.log(`${open} disclosures are newer: they get their seal when the day (UTC) has ended.`)
  if (findings.length === 0) {
    console.log('Nothing was changed, removed, added or moved since it was sealed.')
    return 0
  }
  console.log(`Found ${findings.length} problems:\n${findings.map((text) => `  ${text}`).join('\n')}`)
  return 3
}

/** Goes along the export line by line, with the head of the chain. */
async function check(path, keys, earlier) {
  let begin = null
  let head = null
  let entries = 0n
  let lastId = 0n
  let sealed = 0
  let open = 0
  let last = null
  let isWhole = false
  let keyOrder = Number.NEGATIVE_INFINITY
  let gone = 0
  for await (const line of linesOf(path)) {
    if (begin === null) {
      if (line.type !== 'export') throw new Error(`${path} is not an export of disclosures.`)
      begin = line
      last = line.begins_after
      if (![...keys.values()].some((key) => key.text === line.public_key)) {
        found('The export names another public key than you gave, and no signed change leads from one to the other.')
      }
      if (last !== null) keyOrder = checkSeal(last, line.organization_id, keys) ?? keyOrder
      if (line.dropped) checkDrop(line.dropped, line.organization_id, keys)
      const from = last ?? line.dropped
      head = from ? Buffer.from(from.head, 'hex') : sha256(`disclosures of organization ${line.organization_id}`)
      entries = BigInt(from?.entries ?? 0)
      lastId = BigInt(from?.last_disclosure_id ?? 0)
      compare(earlier, begin, entries, head)
    } else if (line.type === 'disclosure' || line.type === 'dropped') {
      const isDropped = line.type === 'dropped'
      if (BigInt(line.id) <= lastId) found(`Disclosure ${line.id} stands in a wrong place.`)
      if (isDropped && BigInt(line.id) > BigInt(begin.dropped?.remaining_to ?? 0))
        found(`Disclosure ${line.id} was left out, and no month that was dropped had it.`)
      lastId = BigInt(line.id)
      head = sha256(Buffer.concat([head, isDropped ? Buffer.from(line.sha256, 'hex') : sha256(textOf(line))]))
      entries += 1n
      if (isDropped) gone += 1
      else open += 1
      compare(earlier, begin, entries, head)
    } else if (line.type === 'seal') {
      const order = checkSeal(line, begin.organization_id, keys) ?? keyOrder
      if (order < keyOrder) found(`The seal of ${line.sealed_at} is signed with a key that was replaced before.`)
      keyOrder = Math.max(order, keyOrder)
      if (
        BigInt(line.entries) !== entries ||
        line.head !== head.toString('hex') ||
        BigInt(line.last_disclosure_id) !== lastId
      ) {
        found(
          `The ${open} disclosures before the seal of ${line.sealed_at} are not those that were sealed (since ${last?.sealed_at ?? 'the beginning'}).`,
        )
        // Goes on from what was sealed, so that one change is found once.
        head = Buffer.from(line.head, 'hex')
        entries = BigInt(line.entries)
        lastId = BigInt(line.last_disclosure_id)
      }
      sealed += open
      open = 0
      last = line
    } else if (line.type === 'end') isWhole = true
  }
  if (!isWhole) found('The file was cut off: its last line is missing. Download it again.')
  for (const seal of earlier?.values() ?? [])
    if (BigInt(seal.entries) > entries)
      found(`The earlier export has a seal after ${seal.entries} disclosures. This one has only ${entries}.`)
  return { sealed, open, last, dropped: begin?.dropped, gone }
}

/** Checks a seal by itself. Returns the place of its key in the order of keys; nothing for a key that is not trusted. */
function checkSeal(seal, organizationId, keys) {
  const text = JSON.stringify([
    'practice seal',
    seal.organization_id,
    seal.entries,
    seal.head,
    seal.last_disclosure_id,
    seal.sealed_at,
    seal.key_id,
  ])
  const key = keys.get(seal.key_id)
  if (!key || !isSigned(text, seal.signature, key)) found(`The signature of the seal of ${seal.sealed_at} is wrong.`)
  else if (Date.parse(seal.sealed_at) - Date.parse(key.replacedAt ?? seal.sealed_at) > clocksDifferMs)
    found(`The seal of ${seal.sealed_at} is signed with a key that was replaced at ${key.replacedAt}.`)
  if (seal.organization_id !== organizationId) found(`The seal of ${seal.sealed_at} is of another organization.`)
  return key?.order
}

/** The key that was given, and those that changes lead to from it, forward and back, by their ids. A change is signed with both of its keys. */
function trustedKeys(given, changes) {
  const valid = changes.filter((change) => {
    const { previous_key, next_key, last_seal, last_seal_sha256, changed_at } = change
    const text = JSON.stringify(['seal key', previous_key, next_key, last_seal, last_seal_sha256, changed_at])
    const [previous, next] = [readKey(change.previous_key), readKey(change.next_key)]
    const isValid =
      previous &&
      next &&
      isSigned(text, change.previous_signature, previous) &&
      isSigned(text, change.next_signature, next)
    if (!isValid) found(`The change of the key at ${change.changed_at} is not signed with both keys.`)
    return isValid
  })
  let [first, last] = [
    { ...given, order: 0 },
    { ...given, order: 0 },
  ]
  const keys = new Map([[given.id, first]])
  for (const change of valid.toReversed()) {
    if (change.next_key !== first.text) continue
    first = { ...readKey(change.previous_key), order: first.order - 1, replacedAt: change.changed_at }
    keys.set(first.id, first)
  }
  for (const change of valid) {
    if (change.previous_key !== last.text) continue
    keys.set(last.id, { ...last, replacedAt: change.changed_at })
    last = { ...readKey(change.next_key), order: last.order + 1 }
    keys.set(last.id, last)
  }
  return keys
}

/** The changes of the key that an export lists; none in one from before the first. */
async function readKeyChanges(path) {
  for await (const line of linesOf(path)) return line.key_changes ?? []
  return []
}

function isSigned(text, signature, key) {
  return verify(null, Buffer.from(text), key.object, Buffer.from(signature, 'base64url'))
}

/** What the operator signed when older months were dropped. */
function checkDrop(drop, organizationId, keys) {
  const text = JSON.stringify([
    'practice drop',
    drop.organization_id,
    drop.month,
    drop.dropped_at,
    drop.entries,
    drop.head,
    drop.last_disclosure_id,
    drop.remaining_to,
    drop.key_id,
  ])
  const key = keys.get(drop.key_id)
  if (!key || !isSigned(text, drop.signature, key) || drop.organization_id !== organizationId)
    found(`The signature of what was dropped at ${drop.dropped_at} is wrong.`)
  else if (Date.parse(drop.dropped_at) - Date.parse(key.replacedAt ?? drop.dropped_at) > clocksDifferMs)
    found(`What was dropped at ${drop.dropped_at} is signed with a key that was replaced at ${key.replacedAt}.`)
  const [year, month] = drop.month.split('-').map(Number)
  if (Date.parse(drop.dropped_at) < Date.UTC(year + 6, month, 1))
    found(
      `The disclosures of ${drop.month} were dropped at ${drop.dropped_at}, less than six years after the month's end.`,
    )
}

/** The text of a disclosure whose hash is sealed. */
function textOf(line) {
  return JSON.stringify([
    'disclosure',
    line.id,
    line.disclosed_at,
    line.company_id,
    line.key_pair_id,
    line.location_id,
    line.dataset,
    line.notes,
    line.filters_sha256,
    line.records,
    line.counted,
    line.digested,
    line.coverage,
    line.request_id,
    line.ip,
  ])
}

/** The seals of an earlier export by the number of disclosures that they cover. */
async function readSeals(path, keys) {
  const seals = new Map()
  for await (const line of linesOf(path)) {
    const seal = line.type === 'export' ? line.begins_after : line.type === 'seal' ? line : null
    if (!seal) continue
    checkSeal(seal, seal.organization_id, keys)
    seals.set(seal.entries, seal)
  }
  return seals
}

/** Whether the chain is where the earlier export's seal says, after as many disclosures. */
function compare(earlier, begin, entries, head) {
  const seal = earlier?.get(String(entries))
  if (seal && (seal.head !== head.toString('hex') || seal.organization_id !== begin.organization_id))
    found(
      `The first ${entries} disclosures are not those of the earlier export, which were sealed at ${seal.sealed_at}: the past was written again.`,
    )
}

/** The key of its published text: the 32 bytes of an Ed25519 key in base64url. */
function readKey(text) {
  if (!/^[\w-]{43}$/.test(text)) return null
  const object = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' })
  return { text, object, id: sha256(Buffer.from(text, 'base64url')).toString('hex').slice(0, 16) }
}

async function* linesOf(path) {
  let number = 0
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    try {
      yield JSON.parse(text)
    } catch {
      throw new Error(`Line ${number} of ${path} is not JSON. Download the export again.`)
    }
  }
}

function found(text) {
  findings.push(text)
}
