import { limits, vendorApiPath, vendorApiVersion } from '@bridgework/contract'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { sharedSchemas } from './components.ts'
import { finishDocument } from './document.ts'
import { createDocumentSender } from './document-sender.ts'

/** Collects the OpenAPI 3.1 document from this instance's routes, and serves it as JSON and YAML. The portal's page at /docs shows it. */
export async function documentVendorApi(app: FastifyInstance, publicUrl: string): Promise<void> {
  for (const schema of sharedSchemas) app.addSchema(schema)
  const sendDocument = createDocumentSender(() => JSON.stringify(app.swagger()))
  const sendYaml = createDocumentSender(() => app.swagger({ yaml: true }), 'application/x-yaml')
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Bridgework vendor API',
        version: vendorApiVersion,
        description: introduction,
        contact: { name: 'The operator of this service', url: publicUrl },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: `${publicUrl}${vendorApiPath}` }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      security: [{ token: [] }],
      tags,
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
    transform: ({ schema, url }) => ({ schema, url: url.replace(vendorApiPath, '') }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      finishDocument(document.openapiObject)
      return document.openapiObject
    },
  })
  const path = `${vendorApiPath}/openapi.json`
  app.get(path, { schema: { hide: true }, exposeHeadRoute: true }, async (request, reply) =>
    sendDocument(request, reply),
  )
  app.get('/docs/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs', 301))
  app.get('/docs/json', { schema: { hide: true } }, async (request, reply) => sendDocument(request, reply))
  app.get('/docs/yaml', { schema: { hide: true } }, async (request, reply) => sendYaml(request, reply))
}

const tags = [
  { name: 'Authentication', description: 'A key pair is exchanged for a token, which every other request carries.' },
  { name: 'Organizations', description: 'The owners of the locations that you may read.' },
  {
    name: 'Locations',
    description: 'The dental practices that you may read, and how current their data is. No patient data.',
  },
  {
    name: 'Data',
    description:
      'The datasets of a location. Every answer with records, counts of records or checksums is recorded for the practice.',
  },
]

const introduction = `Read the data of the dental practices that granted you access.

1. Get a token from \`POST /auth/token\` and send it as \`Authorization: Bearer <ACCESS_TOKEN>\`. It is valid for 6 hours: reuse it.
2. List the locations that you may read.
3. Walk each dataset once: request page after page until \`meta.has_more\` is false. In cursor lists, pass \`meta.next_after\` as \`after\`.
   Keep \`meta.next_fetch_modified_since\` of the first page.
4. From then on, pass that value as \`q[fetch_modified_since]\` to get only what changed.

A page has at most ${limits.pageSizeMax} records. Records are never deleted: a removed record has \`is_hidden: true\`.

\`HEAD\` is answered wherever \`GET\` is, after the same checks. A \`HEAD\` of a list reads nothing and takes no slot.

Members of objects, values of enumerations, error codes and datasets may be added: ignore members that you do not know, and take a value that you do not
know as some other value. An attribute that was added says the number of the contract that brought it as \`x-since\`. It is null where a record has nothing
of it, and for some minutes after it was added it may be missing: read that as null. No attribute is removed, renamed or given another type under
\`${vendorApiPath}\`. One with a better successor is marked \`deprecated\`, names it, and is filled for at least a year after that. A removal is announced a year ahead with the headers
\`Deprecation\` and \`Sunset\`; no operation sends them now.`
