import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { freePort } from '@bridgework/server/src/testing/test-port.ts'
import { cpuClock } from '../cpu-time.ts'
import { type Child, startChild } from '../peers/child.ts'
import { isInstalled } from './programs.ts'

/** A server that sends the same bytes again and again. */
export type StoredBody = { who: string; url: string; cpu: () => number | null; stop: () => Promise<void> }

/** The bytes of an answer as they come over the wire. */
export function captureBody(url: string, headers: Record<string, string>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks))
        else reject(new Error(`${url} answered ${response.statusCode}`))
      })
    }).on('error', reject)
  })
}

/** The limits of sending a body that is known: node:http from memory, and nginx where it is installed. */
export async function serveStored(body: Buffer, isGzip: boolean): Promise<StoredBody[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-bench-body-'))
  // nginx answers as another account when root starts it.
  chmodSync(folder, 0o755)
  const servers = [await serveFromMemory(folder, body, isGzip)]
  // The bytes of a packed page are one gzip member, and so is what nginx would make beforehand; without gzip it sends the file.
  if (await isInstalled('nginx')) servers.push(await serveByNginx(folder, body, isGzip))
  return servers.map((server, index) => ({
    ...server,
    async stop() {
      await server.stop()
      if (index === servers.length - 1) rmSync(folder, { recursive: true, force: true })
    },
  }))
}

async function serveFromMemory(folder: string, body: Buffer, isGzip: boolean): Promise<StoredBody> {
  const port = await freePort()
  const file = join(folder, 'memory.body')
  writeFileSync(file, body)
  const url = `http://127.0.0.1:${port}/`
  const program = join(import.meta.dirname, 'memory-server.ts')
  const child = await startChild(process.execPath, [program, file, String(port), isGzip ? 'gzip' : 'identity'], {
    readyUrl: url,
  })
  return storedBody('limit: node:http from memory', url, child)
}

async function serveByNginx(folder: string, body: Buffer, isGzip: boolean): Promise<StoredBody> {
  const port = await freePort()
  if (isGzip) writeFileSync(join(folder, 'page.json.gz'), body)
  else writeFileSync(join(folder, 'page.json'), body)
  writeFileSync(join(folder, 'ready.json.gz'), gzipSync('{}'))
  writeFileSync(join(folder, 'ready.json'), '{}')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off; sendfile on; keepalive_requests 100000000; default_type application/json;
  client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c; uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  server { listen 127.0.0.1:${port}; root ${folder}; ${isGzip ? 'gzip_static always;' : ''} }
}
`,
  )
  const child = await startChild('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    readyUrl: `http://127.0.0.1:${port}/ready.json`,
  })
  const who = isGzip ? 'limit: nginx gzip_static' : 'limit: nginx sendfile'
  return storedBody(who, `http://127.0.0.1:${port}/page.json`, child)
}

function storedBody(who: string, url: string, child: Child): StoredBody {
  return { who, url, cpu: cpuClock(() => [child.pid], null), stop: child.stop }
}
