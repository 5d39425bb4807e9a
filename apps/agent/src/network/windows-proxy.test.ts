import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyOf } from './own-network.ts'
import { parseInternetSettings, windowsProxy, withSystemProxy } from './windows-proxy.ts'

const printed = (values: Record<string, string>) =>
  `\r\nHKEY_CURRENT_USER\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Internet Settings\r\n${Object.entries(values)
    .map(([name, value]) => `    ${name}    ${name === 'ProxyEnable' ? 'REG_DWORD' : 'REG_SZ'}    ${value}\r\n`)
    .join('')}`

test('the proxy of the Windows settings is read as their dialog and group policies write it', () => {
  for (const [values, expected] of [
    [
      { ProxyEnable: '0x1', ProxyServer: 'proxy.office:8080' },
      { url: 'http://proxy.office:8080', direct: [] },
    ],
    [
      {
        User: 'Mozilla/4.0 (compatible)',
        ProxyEnable: '0x1',
        ProxyServer: 'http=web:80;https=secure:8443;ftp=ftp:21',
        ProxyOverride: '*.office.local;10.*;fileserver;<local>',
      },
      { url: 'http://secure:8443', direct: ['*.office.local', 'fileserver'] },
    ],
    [
      { ProxyEnable: '0x1', ProxyServer: 'http://proxy:3128' },
      { url: 'http://proxy:3128', direct: [] },
    ],
    [{ ProxyEnable: '0x0', ProxyServer: 'proxy.office:8080' }, null],
    [{ ProxyServer: 'proxy.office:8080' }, null],
    [{ ProxyEnable: '0x1' }, null],
    // Encrypted connections go directly then.
    [{ ProxyEnable: '0x1', ProxyServer: 'http=web:80' }, null],
    [{ ProxyEnable: '0x1', ProxyServer: 'http://[broken' }, null],
  ] as const) {
    assert.deepEqual(parseInternetSettings(printed(values)), expected)
  }
  assert.equal(parseInternetSettings('ERROR: The system was unable to find the specified registry key or value.'), null)
  if (process.platform !== 'win32') assert.equal(windowsProxy(), null)
})

test('a proxy of the settings comes first, then that of the environment, then that of the system', () => {
  const system = () => ({ url: 'http://system:1', direct: ['*.office.local'] })
  const own = ['localhost', '127.0.0.1', '[::1]']
  const env = { HTTPS_PROXY: 'http://environment:1', NO_PROXY: 'one.example,two.example' }
  assert.deepEqual(proxyOf('http://settings:1', env, system), {
    url: 'http://settings:1',
    direct: [...own, 'one.example', 'two.example'],
  })
  assert.equal(proxyOf(null, env, system)?.url, 'http://environment:1')
  assert.deepEqual(proxyOf(null, {}, system), { url: 'http://system:1', direct: [...own, '*.office.local'] })
  assert.equal(
    proxyOf(null, {}, () => null),
    null,
  )
})

test('setup writes the system’s proxy down for the service, unless a person names another one', () => {
  const system = () => ({ url: 'http://system:1', direct: [] })
  assert.equal(withSystemProxy(new Map([['code', 'bwe_1']]), system).get('proxy'), 'http://system:1')
  assert.equal(withSystemProxy(new Map([['proxy', 'http://own:1']]), system).get('proxy'), 'http://own:1')
  assert.equal(withSystemProxy(new Map(), () => null).has('proxy'), false)
})
