/**
 * One server behind another: registered, found, called as the user of the request, watched, away
 * and back.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { authority, client, make, serverUsage } from '../src/access/certificates.suite.ts'
import { type Answer, type RunningServer, startServer } from './running-server.ts'

/** An address of this machine that others may know: endpoints on loopback are not taken. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const lonely = ownAddress === undefined && 'this machine has no address but loopback'

const place = mkdtempSync(join(tmpdir(), 'binnacle-aggregation-'))
const file = (name: string, text: string) => {
  const path = join(place, name)
  writeFileSync(path, text)
  return path
}
let front: RunningServer
let behind: RunningServer
let caBundle = ''
let frontFlags: string[] = []

const group = 'behind.example.com'
const widgets = `/apis/${group}/v1/namespaces/default/widgets`
const services = '/apis/apiregistration.k8s.io/v1/apiservices'

before(async () => {
  const proxies = await authority('front-proxy-authority')
  const frontProxy = await client(proxies, 'front-proxy', [])
  const ca = await authority('behind-authority')
  const own = await make({
    subject: [{ CN: ['behind'] }],
    issuer: ca,
    usages: [serverUsage],
    hosts: ['behind.default.svc', 'localhost', '127.0.0.1'],
  })
  caBundle = Buffer.from(ca.pem).toString('base64')
  const proxyCa = file('proxy-ca.pem', proxies.pem)
  // Its own authority is the one that signed its serving certificate: direct clients trust it too.
  const behindDir = join(place, 'behind')
  mkdirSync(join(behindDir, 'pki'), { recursive: true, mode: 0o700 })
  writeFileSync(join(behindDir, 'pki', 'ca.crt'), ca.pem, { mode: 0o600 })
  writeFileSync(join(behindDir, 'pki', 'ca.key'), ca.keyPem, { mode: 0o600 })
  const behindFlags = [
    '--bind-address=0.0.0.0',
    // What owners in front own is not for it to collect.
    '--controllers=*,-garbagecollector',
    `--tls-cert-file=${file('behind.pem', own.pem)}`,
    `--tls-private-key-file=${file('behind.key', own.keyPem)}`,
    `--requestheader-client-ca-file=${proxyCa}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ]
  behind = await startServer(behindFlags, behindDir)
  frontFlags = [
    `--proxy-client-cert-file=${file('proxy.pem', frontProxy.pem)}`,
    `--proxy-client-key-file=${file('proxy.key', frontProxy.keyPem)}`,
    `--requestheader-client-ca-file=${proxyCa}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ]
  front = await startServer(frontFlags)
})

after(async () => {
  await front?.stop()
  await behind?.stop()
  rmSync(place, { recursive: true, force: true })
})

/** As the administrator, with headers of one's own. */
function askWith(
  server: RunningServer,
  path: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        headers,
        agent: false,
        ca: pem('ca.crt'),
        cert: pem('admin.crt'),
        key: pem('admin.key'),
      },
      (response) => {
        let text = ''
        response.on('data', (bytes) => (text += bytes))
        response.on('end', () => {
          const json = /json/.test(response.headers['content-type'] ?? '')
          resolve({
            status: response.statusCode ?? 0,
            text,
            body: json ? JSON.parse(text) : undefined,
          })
        })
      },
    )
    call.on('error', reject)
    call.end()
  })
}

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (let i = 0; i < 1000; i++) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await sleep(50)
  }
  throw new Error(`${what} never came`)
}

const conditionOf = async (name: string) => {
  const { body } = await front.ask('GET', `${services}/${name}`)
  return body.status?.conditions?.[0]
}

async function made(server: RunningServer, path: string, body: object): Promise<void> {
  const { status, text } = await server.ask('POST', path, body)
  assert.equal(status, 201, text)
}

const definition = {
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
      },
    ],
  },
}

const apiService = () => ({
  metadata: { name: `v1.${group}` },
  spec: {
    group,
    version: 'v1',
    groupPriorityMinimum: 5000,
    versionPriority: 10,
    caBundle,
    service: { namespace: 'default', name: 'behind', port: behind.port },
  },
})

test('built-in group versions are registered, and how to know this server is published', async () => {
  const { body } = await front.ask('GET', `${services}/v1.apps`)
  assert.equal(body.metadata.labels['kube-aggregator.kubernetes.io/automanaged'], 'onstart')
  assert.deepEqual(body.spec, {
    group: 'apps',
    version: 'v1',
    groupPriorityMinimum: 17800,
    versionPriority: 15,
  })
  assert.equal(body.status.conditions[0].reason, 'Local')
  const config = await front.ask(
    'GET',
    '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
  )
  assert.deepEqual(Object.keys(config.body.data).sort(), [
    'client-ca-file',
    'requestheader-allowed-names',
    'requestheader-client-ca-file',
    'requestheader-extra-headers-prefix',
    'requestheader-group-headers',
    'requestheader-username-headers',
  ])
  assert.equal(config.body.data['requestheader-allowed-names'], '["front-proxy"]')
})

test('a definition gets an APIService, and takes it along', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await made(behind, path, definition)
  const name = `v1.${group}`
  const found = await until('the APIService', async () => {
    const { status, body } = await behind.ask('GET', `${services}/${name}`)
    return status === 200 && body
  })
  assert.equal(found.metadata.labels['kube-aggregator.kubernetes.io/automanaged'], 'true')
  assert.deepEqual(found.spec, {
    group,
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 100,
  })
  await behind.ask('DELETE', `${services}/${name}`)
  await until(
    'the APIService again',
    async () => (await behind.ask('GET', `${services}/${name}`)).status === 200,
  )
  await behind.ask('DELETE', `${path}/widgets.${group}`)
  await until(
    'its end',
    async () => (await behind.ask('GET', `${services}/${name}`)).status === 404,
  )
  await made(behind, path, definition)
  await until('the kind', async () => (await behind.ask('GET', widgets)).status === 200)
})

test('what is missing is reported, step by step, until it is there', async () => {
  await made(front, services, apiService())
  const reason = (wanted: string) =>
    until(wanted, async () => {
      const condition = await conditionOf(`v1.${group}`)
      return condition?.reason === wanted && condition
    })
  const missing = await reason('ServiceNotFound')
  assert.equal(missing.message, 'service/behind in "default" is not present')
  const away = await front.ask('GET', widgets)
  assert.deepEqual([away.status, away.text], [503, 'service unavailable\n'])
  const path = '/api/v1/namespaces/default/services'
  await made(front, path, { metadata: { name: 'behind' }, spec: { ports: [{ port: 1 }] } })
  const port = await reason('ServicePortError')
  assert.equal(port.message, `service/behind in "default" is not listening on port ${behind.port}`)
  await front.ask('DELETE', `${path}/behind`)
  await made(front, path, {
    metadata: { name: 'behind' },
    spec: { ports: [{ port: behind.port }] },
  })
  const endpoints = await reason('EndpointsNotFound')
  assert.equal(endpoints.message, 'cannot find endpoints for service/behind in "default"')
  await made(front, '/api/v1/namespaces/default/endpoints', { metadata: { name: 'behind' } })
  const none = await reason('MissingEndpoints')
  assert.equal(
    none.message,
    'endpoints for service/behind in "default" have no addresses with port name ""',
  )
  await front.ask('DELETE', `${path}/behind`)
  await made(front, path, {
    metadata: { name: 'behind' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  const passed = await reason('Passed')
  assert.deepEqual([passed.status, passed.message], ['True', 'all checks passed'])
})

test('discovery shows it in its place', async () => {
  const { body } = await front.ask('GET', '/apis')
  const names = body.groups.map(({ name }: { name: string }) => name)
  assert.equal(names.at(-1), group)
  assert.equal((await front.ask('GET', `/apis/${group}`)).body.preferredVersion.version, 'v1')
  const { body: list } = await front.ask('GET', `/apis/${group}/v1`)
  assert.equal(list.resources[0].name, 'widgets')
})

test('requests are forwarded as their user', async () => {
  await made(front, widgets, {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name: 'w1' },
    size: 3,
  })
  assert.equal((await behind.ask('GET', `${widgets}/w1`)).body.size, 3)
  const binding = {
    metadata: { name: 'alice' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  }
  await made(front, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding)
  const asAlice = await askWith(front, widgets, {
    'Impersonate-User': 'alice',
    'X-Remote-User': 'system:admin',
    'X-Remote-Group': 'system:masters',
  })
  assert.equal(asAlice.status, 403)
  assert.match(asAlice.body.message, /User "alice" cannot list resource "widgets"/)
})

test('a watch streams through', async () => {
  const pem = (name: string) => readFileSync(join(front.dataDir, 'pki', name))
  let heard = ''
  const call = request(
    {
      host: '127.0.0.1',
      port: front.port,
      path: `${widgets}?watch=1`,
      agent: false,
      ca: pem('ca.crt'),
      cert: pem('admin.crt'),
      key: pem('admin.key'),
    },
    (response) => {
      response.on('data', (bytes) => (heard += bytes))
      response.on('error', () => {})
    },
  )
  call.on('error', () => {})
  call.end()
  try {
    await until('the first event', async () => heard.includes('"w1"'))
    await made(behind, widgets, {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'w2' },
    })
    await until('the second event', async () => heard.includes('"w2"'))
  } finally {
    call.destroy()
  }
})

test('its OpenAPI is in ours', async () => {
  const document = await until('the document', async () => {
    const body = JSON.parse((await front.ask('GET', '/openapi/v2')).text)
    return body.paths[`/apis/${group}/v1/namespaces/{namespace}/widgets`] !== undefined && body
  })
  assert.ok(document.definitions['com.example.behind.v1.Widget'])
})

test('its OpenAPI in the third form is in ours under its own hash, and everything else is still ours', async () => {
  const name = `apis/${group}/v1`
  const paths = await until('the entry', async () => {
    const { body } = await front.ask('GET', '/openapi/v3')
    return body.paths[name] !== undefined && body.paths
  })
  const theirs = await behind.ask('GET', '/openapi/v3')
  assert.deepEqual(paths[name], theirs.body.paths[name])
  assert.notEqual(paths['apis/apps/v1'], undefined)
  assert.equal(paths[`apis/apiextensions.k8s.io`]?.serverRelativeURL.includes('?hash='), true)
  const address: string = paths[name].serverRelativeURL
  const passed = await front.ask('GET', address)
  assert.equal(passed.text, (await behind.ask('GET', address)).text)
  assert.ok(passed.body.components.schemas['com.example.behind.v1.Widget'])
  const etag = `"${address.slice(address.indexOf('=') + 1)}"`
  assert.equal(passed.headers?.etag, etag)
  assert.equal((await front.ask('GET', address, undefined, { 'if-none-match': etag })).status, 304)
})

const widget = (name: string, owner?: { metadata: { name: string; uid: string } }) => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: {
    name,
    ...(owner && {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid },
      ],
    }),
  },
})

test('what it serves goes with its namespace, and with its owner', async () => {
  for (const server of [front, behind])
    await made(server, '/api/v1/namespaces', { metadata: { name: 'emptied' } })
  const inEmptied = `/apis/${group}/v1/namespaces/emptied/widgets`
  await made(front, inEmptied, widget('with-namespace'))
  await front.ask('DELETE', '/api/v1/namespaces/emptied')
  await until('the end of the namespace', async () => {
    return (await front.ask('GET', '/api/v1/namespaces/emptied')).status === 404
  })
  assert.deepEqual((await behind.ask('GET', inEmptied)).body.items, [])

  const maps = '/api/v1/namespaces/default/configmaps'
  const owner = await front.ask('POST', maps, { metadata: { name: 'owner' } })
  await made(front, widgets, widget('owned', owner.body))
  await made(front, widgets, widget('free'))
  await front.ask('DELETE', `${maps}/owner`)
  await until('the end of what it owned', async () => {
    return (await behind.ask('GET', `${widgets}/owned`)).status === 404
  })
  assert.equal((await behind.ask('GET', `${widgets}/free`)).status, 200)
  await front.ask('DELETE', `${widgets}/free`)
})

test('with aggregator routing its endpoints are called, not the address of its service', {
  skip: lonely,
}, async () => {
  const routing = await startServer([...frontFlags, '--enable-aggregator-routing'])
  try {
    const inDefault = '/api/v1/namespaces/default'
    await made(routing, `${inDefault}/services`, {
      metadata: { name: 'behind' },
      spec: { ports: [{ name: 'https', port: 443 }] },
    })
    const ports = [{ name: 'https', port: behind.port }]
    await made(routing, `${inDefault}/endpoints`, {
      metadata: { name: 'behind' },
      subsets: [{ addresses: [{ ip: ownAddress }], ports }],
    })
    const { metadata, spec } = apiService()
    const service = { namespace: 'default', name: 'behind' }
    await made(routing, services, { metadata, spec: { ...spec, service } })
    const answer = await until('the answer', async () => {
      const asked = await routing.ask('GET', `${widgets}/w1`)
      return asked.status === 200 && asked
    })
    assert.equal(answer.body.size, 3)
  } finally {
    await routing.stop()
  }
})

test('while it is away the answer is 503, and the condition says why', async () => {
  await behind.stop()
  const unreachable = await front.ask('GET', widgets)
  assert.equal(unreachable.status, 503)
  assert.match(
    unreachable.text,
    /^error trying to reach service: dial tcp [^ ]+:\d+: connect: connection refused\n$/,
  )
  // Anything that touches its service makes the server look again at once.
  const service = '/api/v1/namespaces/default/services/behind'
  const { body } = await front.ask('GET', service)
  await front.ask('PUT', service, {
    ...body,
    metadata: { ...body.metadata, labels: { touched: 'yes' } },
  })
  const failed = await until('the condition', async () => {
    const condition = await conditionOf(`v1.${group}`)
    return condition.reason === 'FailedDiscoveryCheck' && condition
  })
  assert.match(
    failed.message,
    /^failing or missing response from https:\/\/localhost:\d+\/apis\/behind\.example\.com\/v1: Get "https:/,
  )
  assert.equal((await front.ask('GET', widgets)).text, 'service unavailable\n')
  // It is unknown whether it has something in the namespace: that waits.
  await made(front, '/api/v1/namespaces', { metadata: { name: 'waiting' } })
  await front.ask('DELETE', '/api/v1/namespaces/waiting')
  const told = await until('the reason', async () => {
    const { body: namespace } = await front.ask('GET', '/api/v1/namespaces/waiting')
    return namespace.status?.conditions?.find(
      ({ reason }: { reason: string }) => reason === 'DiscoveryFailed',
    )
  })
  assert.match(told.message, /behind\.example\.com\/v1: the server is currently unable to handle/)
})

test('a group that is taken out is gone', async () => {
  await front.ask('DELETE', `${services}/v1.${group}`)
  await until('its end', async () => (await front.ask('GET', `/apis/${group}`)).status === 404)
  const { body } = await front.ask('GET', '/apis')
  assert.ok(!body.groups.some(({ name }: { name: string }) => name === group))
  const { text: metrics } = await front.ask('GET', '/metrics')
  assert.ok(!metrics.includes(`aggregator_unavailable_apiservice{name="v1.${group}"}`))
  await until('the end of its document', async () => {
    const { body: index } = await front.ask('GET', '/openapi/v3')
    return index.paths[`apis/${group}/v1`] === undefined
  })
  assert.equal((await front.ask('GET', `/openapi/v3/apis/${group}/v1`)).status, 404)
  await until('the end of the namespace that waited', async () => {
    return (await front.ask('GET', '/api/v1/namespaces/waiting')).status === 404
  })
})

test('any server can be behind: upgrades pass, redirects do not, and it must be who it says', async () => {
  const ca = await authority('echo-authority')
  const own = await make({
    subject: [{ CN: ['echo'] }],
    issuer: ca,
    usages: [serverUsage],
    hosts: ['echo.default.svc'],
  })
  const asked: { url: string; user: unknown; authorization: unknown; body: string }[] = []
  const brokenOff = new Set<string>()
  const echo = createServer({ cert: own.pem, key: own.keyPem }, async (request, response) => {
    const { url = '', headers } = request
    if (url.startsWith('/openapi/')) {
      brokenOff.add(url)
      response.writeHead(200, { 'content-length': 1000 })
      return void response.write('{', () => response.destroy())
    }
    // Probes of its availability come at any time.
    if (!/^\/apis\/[^/]+\/[^/]+$/.test(url)) {
      const { 'x-remote-user': user, authorization } = headers
      let body = ''
      for await (const bytes of request) body += bytes
      asked.push({ url, user, authorization, body })
    }
    if (url.endsWith('/dying')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.write('{"half":', () => response.destroy())
    }
    if (url.endsWith('/away')) response.writeHead(302, { location: 'https://127.0.0.1:1/' })
    response.end('{}')
  })
  let upgraded: IncomingHttpHeaders = {}
  echo.on('upgrade', ({ headers }, socket) => {
    upgraded = headers
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  const { port } = echo.address() as AddressInfo
  const register = async (version: string, bundle: string) => {
    const spec = {
      group: 'echo.example.com',
      version,
      groupPriorityMinimum: 10,
      versionPriority: 10,
      caBundle: Buffer.from(bundle).toString('base64'),
      service: { namespace: 'default', name: 'echo', port },
    }
    await made(front, services, { metadata: { name: `${version}.echo.example.com` }, spec })
    await until(
      version,
      async () => (await conditionOf(`${version}.echo.example.com`))?.status === 'True',
    )
  }
  try {
    await made(front, '/api/v1/namespaces/default/services', {
      metadata: { name: 'echo' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    })
    await register('v1', ca.pem)
    await register('v2', (await authority('another')).pem)
    const redirected = await front.ask('GET', '/apis/echo.example.com/v1/away')
    assert.equal(redirected.status, 502)
    assert.match(redirected.text, /the backend attempted to redirect this request/)
    const disbelieved = await front.ask('GET', '/apis/echo.example.com/v2/things')
    assert.equal(disbelieved.status, 503)
    assert.match(disbelieved.text, /x509: certificate signed by unknown authority/)
    await askWith(front, '/apis/echo.example.com/v1/things', { 'X-Remote-User': 'forged' })
    assert.deepEqual(asked.at(-1), {
      url: '/apis/echo.example.com/v1/things',
      user: 'kubernetes-admin',
      authorization: undefined,
      body: '',
    })
    // As kube-apiserver writes them: parameters in order, no needless escapes, the rest of the path
    // as it is.
    await front.ask('GET', '/apis/echo.example.com/v1/a%2Fb//c?z=1&a=x%20y&a=b')
    assert.equal(asked.at(-1)?.url, '/apis/echo.example.com/v1/a/b//c?a=x+y&a=b&z=1')
    await assert.rejects(
      front.ask('GET', '/apis/echo.example.com/v1/dying'),
      'half an answer is none',
    )
    assert.equal(await echoed('/apis/echo.example.com/v1/things/x/stream', 'hello'), 'hello')
    assert.deepEqual(
      [upgraded['x-remote-user'], upgraded['x-remote-group'], upgraded['impersonate-user']],
      ['kubernetes-admin', 'system:masters, system:authenticated', undefined],
    )
    // However its length is announced, a body is a body: no client writes a request of this
    // server's into it.
    for (const how of ['chunked', 'announced'] as const) {
      const hidden = 'GET /apis/echo.example.com/v1/hidden HTTP/1.1\r\nX-Remote-User: root\r\n\r\n'
      const before = asked.length
      assert.equal(await posted('/apis/echo.example.com/v1/things', hidden, how), '{}')
      assert.equal(asked.length, before + 1)
      assert.deepEqual([asked.at(-1)?.user, asked.at(-1)?.body], ['kubernetes-admin', hidden])
    }
    await until('its documents to be asked for', async () => brokenOff.size === 2)
    await sleep(20)
    assert.equal(
      (await front.ask('GET', '/openapi/v3')).status,
      200,
      'broken documents hurt nobody',
    )
  } finally {
    echo.close()
    echo.closeAllConnections()
  }
})

/** What comes back on a connection that left HTTP. */
function echoed(path: string, text: string): Promise<string> {
  const pem = (name: string) => readFileSync(join(front.dataDir, 'pki', name))
  const headers = { connection: 'Upgrade', upgrade: 'echo', 'X-Remote-User': 'forged' }
  const keys = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
  return new Promise((resolve, reject) => {
    const call = request({
      host: '127.0.0.1',
      port: front.port,
      path,
      headers,
      agent: false,
      ...keys,
    })
    call.on('upgrade', (_response, socket) => {
      socket.write(text)
      socket.once('data', (bytes: Buffer) => {
        resolve(bytes.toString())
        socket.destroy()
      })
    })
    call.on('response', ({ statusCode }) => reject(new Error(`answered ${statusCode}`)))
    call.on('error', reject)
    call.end()
  })
}

/** The response to a body whose length is announced in one way or the other. */
function posted(path: string, body: string, how: 'chunked' | 'announced'): Promise<string> {
  const pem = (name: string) => readFileSync(join(front.dataDir, 'pki', name))
  const keys = { ca: pem('ca.crt'), cert: pem('admin.crt'), key: pem('admin.key') }
  const headers =
    how === 'chunked' ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length }
  const place = { host: '127.0.0.1', port: front.port, path, method: 'POST', agent: false as const }
  return new Promise((resolve, reject) => {
    const call = request({ ...place, ...keys, headers }, (answer) => {
      let text = ''
      answer.on('data', (bytes) => (text += bytes))
      answer.on('end', () => resolve(text))
    })
    call.on('error', reject)
    call.end(body)
  })
}
