import assert from 'node:assert/strict'
import test from 'node:test'
import { processorMs } from '#base/processor-time.fixture.ts'
import { isAllowed, resolveAllowed } from './allowed-address.ts'
import {
  encodeQuery,
  numberOf,
  portsOf,
  streamOptions,
  streamQuery,
  switchOf,
} from './connect-options.ts'
import { mayUpgrade } from './connect.ts'
import { parseNamedTarget } from './named-target.ts'
import { networkWords } from './network-words.ts'
import { answeredHeaders, requestHeaders } from './passed-headers.ts'
import { containerFor } from './pod-container.ts'
import { cleanPath, encodePath, proxyPath } from './proxy-path.ts'
import { type LinkPlace, rewriteLink, rewritePage } from './rewrite-links.ts'
import { serverResponse } from './server-response.ts'
import type { Exchange } from '#http/exchange.ts'

// address, allowed, allowed with loopback
const addresses: [string, boolean, boolean][] = [
  ['10.1.2.3', true, true],
  ['2001:db8::1', true, true],
  ['127.0.0.1', false, true],
  ['127.8.9.1', false, true],
  ['::1', false, true],
  ['::ffff:127.0.0.1', false, true],
  ['169.254.169.254', false, false],
  ['::ffff:169.254.169.254', false, false],
  ['fe80::1', false, false],
  ['224.0.0.1', false, false],
  ['ff02::1', false, false],
  ['0.0.0.0', false, false],
  ['255.255.255.255', false, false],
  ['::', false, false],
  ['', false, false],
  ['localhost', false, false],
]
for (const [address, strict, loose] of addresses) {
  test(`proxying to ${address || 'nothing'}`, () => {
    assert.deepEqual([isAllowed(address, false), isAllowed(address, true)], [strict, loose])
  })
}

test('a name is allowed only if all its addresses are', async () => {
  const lookup = (found: string[]) => async () => found.map((address) => ({ address, family: 4 }))
  assert.equal(await resolveAllowed('a', false, lookup(['10.0.0.1', '10.0.0.2'])), '10.0.0.1')
  await assert.rejects(
    resolveAllowed('a', false, lookup(['10.0.0.1', '127.0.0.1'])),
    /address not allowed/,
  )
  await assert.rejects(resolveAllowed('a', false, lookup([])), /No addresses for hostname/)
})

// text, scheme, name, port
const names: [string, string[] | undefined][] = [
  ['a', ['', 'a', '']],
  ['a:80', ['', 'a', '80']],
  ['https:a:443', ['https', 'a', '443']],
  ['http:a:', ['http', 'a', '']],
  [':a:web', ['', 'a', 'web']],
  ['ftp:a:80', undefined],
  ['HTTPS:a:80', undefined],
  ['', undefined],
  [':80', undefined],
  ['a:b:c:d', undefined],
]
for (const [text, expected] of names) {
  test(`the target ${JSON.stringify(text)}`, () => {
    const parsed = parseNamedTarget(text)
    assert.deepEqual(parsed && [parsed.scheme, parsed.name, parsed.port], expected)
  })
}

// rest, path of the request, path of the backend
const paths: [string, string, string][] = [
  ['', '/x/proxy', ''],
  ['', '/x/proxy/', '/'],
  ['a/b', '/x/proxy/a/b', '/a/b'],
  ['a/b', '/x/proxy/a/b/', '/a/b/'],
  ['../../etc', '/x/proxy/../../etc', '/etc'],
  ['a//b/./c/..', '/x/proxy/a//b/./c/..', '/a/b'],
]
for (const [rest, path, expected] of paths) {
  test(`the proxy path of ${path}`, () => assert.equal(proxyPath(rest, path), expected))
}

test('paths never leave the root, and are encoded as in Go', () => {
  assert.equal(cleanPath('../../..'), '/')
  assert.equal(
    encodePath("/a b/ü?#%/$&+,:;=@!'()*"),
    '/a%20b/%C3%BC%3F%23%25/$&+,:;=@%21%27%28%29%2A',
  )
})

test('queries are parsed as in Go', () => {
  const query = new URLSearchParams('a=0&b=FALSE&c=false&d=&e=1&n=+5&m=-7')
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e', 'none'].map((name) => switchOf(query, name)),
    [false, false, false, true, true, false],
  )
  assert.equal(numberOf(query, 'm'), -7n)
  assert.throws(() => numberOf(new URLSearchParams('n=1.5'), 'n'), /parsing "1.5": invalid syntax/)
  assert.throws(
    () => numberOf(new URLSearchParams('n=9223372036854775808'), 'n'),
    /value out of range/,
  )
  assert.deepEqual(portsOf(new URLSearchParams('ports=1,2&ports=3')), [1, 2, 3])
  assert.throws(() => portsOf(new URLSearchParams('ports=65536')), /value out of range/)
})

test('the query that the kubelet receives', () => {
  const query = new URLSearchParams('command=sh&command=-c&stdin=true&stdout=1&tty=0&container=c')
  assert.equal(streamQuery(streamOptions(query)), 'command=sh&command=-c&input=1&output=1')
  assert.equal(
    encodeQuery([
      ['b', '2'],
      ['a', 'x y'],
      ['a', '1'],
    ]),
    'a=x+y&a=1&b=2',
  )
})

const pod = (containers: string[], init: string[] = []) => ({
  metadata: { name: 'p' },
  spec: {
    containers: containers.map((name) => ({ name })),
    initContainers: init.map((name) => ({ name })),
  },
})
test('the selected container', () => {
  assert.equal(containerFor(pod(['a']), ''), 'a')
  assert.equal(containerFor(pod(['a', 'b'], ['i']), 'i'), 'i')
  assert.throws(() => containerFor(pod(['a', 'b'], ['i']), ''), /choose one of: \[i a b\]$/)
  assert.throws(() => containerFor(pod([]), ''), /a container name must be specified for pod p$/)
  assert.throws(() => containerFor(pod(['a']), 'x'), /container x is not valid for pod p/)
})

const place: LinkPlace = {
  prefix: '/api/v1/nodes/n/proxy',
  backendHost: '10.0.0.1:80',
  requestHost: 'api:6443',
}
// link, rewritten
const links: [string, string][] = [
  ['/a', '/api/v1/nodes/n/proxy/a'],
  ['/a/', '/api/v1/nodes/n/proxy/a/'],
  ['/a?b=/c#d', '/api/v1/nodes/n/proxy/a?b=/c#d'],
  ['http://10.0.0.1:80/a', '/api/v1/nodes/n/proxy/a'],
  ['https://api:6443/a', 'https://api:6443/api/v1/nodes/n/proxy/a'],
  ['//10.0.0.1:80/a', '/api/v1/nodes/n/proxy/a'],
  ['https://example.com/a', 'https://example.com/a'],
  ['relative', 'relative'],
  ['../up', '../up'],
  ['mailto:a@b', 'mailto:a@b'],
  ['javascript:x', 'javascript:x'],
  ['/api/v1/nodes/n/proxy/x', '/api/v1/nodes/n/proxy/x'],
  ['', ''],
]
for (const [link, expected] of links) {
  test(`the link ${JSON.stringify(link)}`, () => assert.equal(rewriteLink(link, place), expected))
}

test('only the links of a page are rewritten', () => {
  const page =
    '<a class="/x" href="/a">/b</a><IMG SRC=/c><p title="/d"><script>if (a < b) "/e"</script>'
  const there = '/api/v1/nodes/n/proxy'
  assert.equal(
    rewritePage(page, place),
    `<a class="/x" href="${there}/a">/b</a><IMG SRC=${there}/c><p title="/d"><script>if (a < b) "/e"</script>`,
  )
})

test('a page of unclosed tags takes linear time', () => {
  const spentMs = processorMs(() => {
    rewritePage('<a '.repeat(100_000), place)
    rewritePage(`<a ${'x="'.repeat(50_000)}`, place)
  })
  assert.ok(spentMs < 2000, `${spentMs} ms`)
})

const exchangeWith = (headers: Record<string, string | string[]>) =>
  ({ wire: { separateHeaders: headers, remoteAddress: '::ffff:10.9.8.7' } }) as unknown as Exchange

test('hop-by-hop headers and user headers are not forwarded', () => {
  const given = {
    ':authority': 'api:6443',
    authorization: 'Bearer secret',
    'impersonate-user': 'x',
    'x-remote-user': 'system:admin',
    'x-remote-extra-scopes': 'a',
    'x-ours': 'me',
    connection: 'keep-alive, x-hop',
    'x-hop': '1',
    te: 'trailers',
    upgrade: 'h2c',
    cookie: 'a=b',
    'x-forwarded-for': '1.2.3.4',
    accept: ['a', 'b'],
  }
  const passed = requestHeaders(exchangeWith(given), (name) => name === 'x-ours', false)
  assert.deepEqual(
    { ...passed },
    {
      cookie: 'a=b',
      accept: ['a', 'b'],
      host: 'api:6443',
      'x-forwarded-for': '1.2.3.4, 10.9.8.7',
    },
  )
})

test('an upgrade keeps its Upgrade headers', () => {
  const given = {
    host: 'h',
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    authorization: 'x',
    'x-stream-protocol-version': 'v4',
  }
  assert.deepEqual(
    { ...requestHeaders(exchangeWith(given), () => false, true) },
    {
      host: 'h',
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': 'v4',
      'x-forwarded-for': '10.9.8.7',
    },
  )
})

test('hop-by-hop headers and CORS headers of the backend are dropped', () => {
  const back = answeredHeaders({
    connection: 'x-a',
    'x-a': '1',
    'transfer-encoding': 'chunked',
    'access-control-allow-origin': '*',
    'set-cookie': ['a', 'b'],
  })
  assert.deepEqual({ ...back }, { 'set-cookie': ['a', 'b'] })
})

// url, leaves HTTP
const addressesOfUpgrades: [string, boolean][] = [
  ['/api/v1/namespaces/a/pods/b/exec?command=c', true],
  ['/api/v1/namespaces/a/pods/b/portforward', true],
  ['/api/v1/namespaces/a/services/https:b:c/proxy/d', true],
  ['/api/v1/nodes/a/proxy', true],
  ['/api/v1/namespaces/a/pods/b', false],
  ['/api/v1/namespaces/a/configmaps/exec', false],
  ['/api/v1/namespaces/a/pods?x=/pods/b/exec', false],
  ['/apis/apps/v1/pods/b/exec', false],
]
for (const [url, expected] of addressesOfUpgrades) {
  test(`${url} ${expected ? 'can leave' : 'stays in'} HTTP`, () =>
    assert.equal(mayUpgrade(url), expected))
}

test("network errors have Go's messages", () => {
  const error = (code: string, more: object = {}) =>
    Object.assign(new Error('m'), { code, ...more })
  assert.equal(
    networkWords(error('ECONNREFUSED'), 'a:1'),
    'dial tcp a:1: connect: connection refused',
  )
  assert.equal(
    networkWords(error('ECONNREFUSED', { address: '::1', port: 2 }), 'a:2'),
    'dial tcp [::1]:2: connect: connection refused',
  )
  assert.equal(
    networkWords(error('', { errors: [error('EHOSTUNREACH')] }), 'a:1'),
    'dial tcp a:1: connect: no route to host',
  )
  assert.match(
    networkWords(error('ENOTFOUND'), 'name:1'),
    /^dial tcp: lookup name( on \S+)?: no such host$/,
  )
  assert.equal(
    networkWords(error('CERT_HAS_EXPIRED'), 'a:1'),
    'x509: certificate has expired or is not yet valid',
  )
  assert.equal(networkWords(error('OTHER'), 'a:1'), 'm')
  const refused = serverResponse(404, 'pods/log', 'p', 'text')
  assert.deepEqual(
    [refused.reason, refused.message],
    ['NotFound', 'the server could not find the requested resource ( pods/log p)'],
  )
})
