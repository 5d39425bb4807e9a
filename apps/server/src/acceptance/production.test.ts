import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../testing/test-port.ts'
import { someProduction } from './testing/test-production.ts'

test('stopping one of two processes under load on kept connections fails no request', async (t) => {
  const production = await someProduction(t)
  const metricsPort = await freePort()
  const [stopping, staying] = await Promise.all([
    production.startProcess({ BRIDGEWORK_METRICS_ADDRESS: `127.0.0.1:${metricsPort}` }),
    production.startProcess(),
  ])
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const ask = async (port: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request({ port, host: '127.0.0.1', path: '/readyz', agent }, resolve).once('error', reject).end()
    const answer = await promise
    for await (const _ of answer);
    return { status: answer.statusCode, connection: answer.headers.connection, port }
  }
  const failures: string[] = []
  const closing = { count: 0 }
  const served = new Map<number, number>()
  let isOver = false
  t.after(() => {
    isOver = true
  })
  // What a proxy in front of both does: where no connection is accepted, it asks the other one.
  const client = async (ports: number[]) => {
    for (let turn = 0; !isOver; turn += 1) {
      const order = turn % 2 === 0 ? ports : ports.toReversed()
      try {
        const answer = await ask(order[0] ?? 0).catch((error) => {
          if (error.code === 'ECONNREFUSED') return ask(order[1] ?? 0)
          throw error
        })
        served.set(answer.port, (served.get(answer.port) ?? 0) + 1)
        if (answer.status !== 200) failures.push(String(answer.status))
        if (answer.connection === 'close') closing.count += 1
      } catch (error) {
        failures.push(String(error))
      }
      await sleep(Math.random() * 20)
    }
  }
  const clients = Array.from({ length: 24 }, () => client([stopping.port, staying.port]))
  await sleep(1_500)
  assert.ok((served.get(stopping.port) ?? 0) > 50, 'there is load')
  const metricsOf = async (port: number) => await fetch(`http://127.0.0.1:${port}/metrics`)
  assert.match(await (await metricsOf(metricsPort)).text(), /_count\{[^}]*route="\/readyz"[^}]*\} [1-9]/)
  assert.equal((await metricsOf(stopping.port)).status, 404, 'metrics with a port of their own are on no other')
  assert.equal((await metricsOf(staying.port)).status, 200, 'without settings they are for this machine')
  const beganAtMs = performance.now()
  const ended = await stopping.kill('SIGTERM')
  assert.ok(performance.now() - beganAtMs < 10_000)
  const before = served.get(staying.port) ?? 0
  await sleep(300)
  isOver = true
  await Promise.all(clients)

  assert.deepEqual(failures, [])
  assert.equal(ended.code, 0)
  assert.ok(closing.count > 0, 'connections were ended by their answers')
  assert.ok((served.get(staying.port) ?? 0) > before)
})
