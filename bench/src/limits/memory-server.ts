import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

// A body from memory by node:http, in a process of its own: memory-server.ts <file> <port> gzip|identity.
const [, , file = '', port = '0', coding] = process.argv
const body = readFileSync(file)
const headers = {
  'Content-Type': 'application/json',
  'Content-Length': body.length,
  ...(coding === 'gzip' && { 'Content-Encoding': 'gzip' }),
}
createServer((_request, response) => response.writeHead(200, headers).end(body)).listen(Number(port), '127.0.0.1')
