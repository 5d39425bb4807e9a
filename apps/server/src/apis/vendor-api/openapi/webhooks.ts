import { webhookExample } from './examples.ts'

const header = (name: string, description: string) => ({
  ...{ name, in: 'header', required: true, description, schema: { type: 'string' } },
})

const responses = {
  204: { description: 'Received. Any 2xx within 15 seconds' },
  410: { description: 'Not wanted any more: no further messages are sent' },
  default: { description: 'Tried again later, or when Retry-After says. Redirects are not followed' },
}

/** What the service asks of a vendor's own server: OpenAPI's `webhooks`. */
export const webhooks = {
  change: {
    post: {
      operationId: 'webhook_receive',
      tags: ['Locations'],
      summary: 'Receive what changed',
      description:
        'Sent to the webhooks of your company, signed as Standard Webhooks 1.0 says: check the signature over the body as it came. Contains no patient data. A message may come twice.',
      security: [],
      parameters: [
        header('webhook-id', 'The same for each attempt at the same message'),
        header('webhook-timestamp', 'When it was sent, in seconds since 1970'),
        header('webhook-signature', 'v1, and the signature; two during a rotation, with a space between'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { $ref: '#/components/schemas/WebhookMessage' }, example: webhookExample },
        },
      },
      responses,
    },
  },
}
