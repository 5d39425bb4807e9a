// Loaded into each process that the model starts: it ends with the program that started it, and its clock can be set.
const real = Date
let aheadMs = 0

globalThis.Date = new Proxy(real, {
  construct: (target, given: [], self) => Reflect.construct(target, given.length === 0 ? [now()] : given, self),
  apply: () => new real(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

function now(): number {
  return real.now() + aheadMs
}

process.on('message', (message: { aheadMs: number }) => {
  aheadMs = message.aheadMs
})
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
