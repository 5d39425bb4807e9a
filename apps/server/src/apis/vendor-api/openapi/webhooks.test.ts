import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { Compile } from 'typebox/schema'
import { sendTest } from '../../../modules/webhooks/sender.ts'
import {
  addEndpoint,
  senderContext,
  someReceiver,
  startSender,
} from '../../../modules/webhooks/testing/test-receiver.ts'
import { aRecord, someWorld } from '../../../testing/test-world.ts'
import { eventually } from '../testing/test-answer.ts'

type Media = { schema: object; example: unknown }
type Document = {
  components: object
  webhooks: {
    change: { post: { parameters: { name: string }[]; requestBody: { content: { 'application/json': Media } } } }
  }
}

test('messages of webhooks are what the document says, a test too', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const receiver = await someReceiver(t)
  const { endpoint } = await addEndpoint(world, vendor, receiver.url)
  const context = senderContext(world)
  const { components, webhooks } = (await world.request(`${vendorApiPath}/openapi.json`)).body as unknown as Document
  const { parameters, requestBody } = webhooks.change.post
  const { schema, example } = requestBody.content['application/json']
  const validator = Compile({ ...schema, components })

  startSender(t, context)
  const told = (type: string) =>
    eventually(async () => receiver.received.some(({ body }) => body.type === type), 15_000, type)
  await location.upload('patients', { one: aRecord('patients') })
  await told('dataset')
  await world.revoke(vendor.companyId, location)
  await told('grant')
  await sendTest(context, endpoint.id)
  await told('test')

  for (const { body, headers } of [...receiver.received, { body: example, headers: null }]) {
    assert.deepEqual(validator.Errors(body)[1], [], JSON.stringify(body))
    if (headers) for (const { name } of parameters) assert.ok(headers[name], name)
  }
  const [{ body } = assert.fail()] = receiver.received
  for (const wrong of [
    { ...body, type: 'other' },
    { ...body, sequence: 'one' },
    { ...body, data: { id: 'test' } },
  ])
    assert.equal(validator.Check(wrong), false)
})
