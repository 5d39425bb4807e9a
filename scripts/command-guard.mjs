// Ends what a command leaves: command-guard.mjs <process id of the command> <that of its parent>, with an input of the ids of the command's
// children that ends with the command. Plain JavaScript without dependencies, for Node 20 and newer.
import { createInterface } from 'node:readline'
import { listNewProcesses, listProcesses } from './process-list.mjs'

/** Of a child and its own child that are killed and left within this time, the latter is not known to be of the command. */
const glanceEveryMs = 50
const lookEveryMs = 500
/** How long the command may take to end in order when its parent is gone, and how long everything else may when the command has ended. */
const patienceMs = 10_000
const restPatienceMs = 5_000

const [commandId, parentId] = process.argv.slice(2).map(Number)
/** When each process of the command began, by its id: an id that is used again has another time. The command is the first. */
const tree = new Map()
/** Those that were asked to end. */
const asked = new Set()
let newest = 0
let hasEnded = false
let killAtMs = Number.POSITIVE_INFINITY

// Only the end of the command ends it: what a terminal or an outer command's guard sends comes too early.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
const told = createInterface({ input: process.stdin })
told.on('line', (id) => {
  const child = listProcesses().get(Number(id))
  if (child) tree.set(Number(id), child.began)
})
told.on('close', () => {
  hasEnded = true
  killAtMs = Date.now() + restPatienceMs
  look()
})
process.stdin.on('error', () => told.close())
look()
const glancing = setInterval(glance, glanceEveryMs)
const looking = setInterval(look, lookEveryMs)

/** Between two looks, so that little is missed. */
function glance() {
  const begun = listNewProcesses(newest)
  newest = begun.newest
  addChildren(begun.processes)
}

function look() {
  const processes = listProcesses()
  for (const [id, began] of [...tree]) {
    if (processes.get(id)?.began === began) continue
    tree.delete(id)
    asked.delete(id)
  }
  const command = processes.get(commandId)
  if (command && !hasEnded) tree.set(commandId, command.began)
  addChildren(processes)
  if (hasEnded) endRest(processes)
  else if (command && command.parent !== parentId) endCommand()
}

function addChildren(processes) {
  // Until none is added: where ids begin again, a child can come before its parent.
  for (let before = -1; before < tree.size; ) {
    before = tree.size
    for (const [id, { parent, began }] of processes) if (tree.has(parent) && id !== process.pid) tree.set(id, began)
  }
}

/** npm is gone, and what it started is to end as if npm had said so. */
function endCommand() {
  if (killAtMs === Number.POSITIVE_INFINITY) killAtMs = Date.now() + patienceMs
  if (Date.now() > killAtMs) send(commandId, 'SIGKILL')
  else ask(commandId)
}

/** Asks first those whose parent is not asked itself: each has the time to end its own children in order. */
function endRest(processes) {
  tree.delete(commandId)
  for (const id of tree.keys()) {
    if (Date.now() > killAtMs) send(id, 'SIGKILL')
    else if (!tree.has(processes.get(id)?.parent)) ask(id)
  }
  if (tree.size > 0) return
  clearInterval(glancing)
  clearInterval(looking)
}

function ask(id) {
  if (asked.has(id)) return
  asked.add(id)
  send(id, 'SIGTERM')
}

function send(id, signal) {
  try {
    process.kill(id, signal)
  } catch {
    // It has just ended, or it is another account's.
  }
}
