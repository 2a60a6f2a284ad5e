/**
 * Connections into the cluster as kubectl makes them, to a kubelet of our own: logs, exec with
 * input, cp, port forwarding and the proxy subresources. kubectl of several releases where the
 * machine has them.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { WebhookServer } from '../src/admission/webhook/webhook-server.suite.ts'
import { until } from '../src/base/until.fixture.ts'
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts'
import { freePort, type RunningServer, startServer } from './running-server.ts'

/** An address of this machine that others may know: endpoints on loopback are not taken. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const lonely = ownAddress === undefined && 'this machine has no address but loopback'

const place = mkdtempSync(join(tmpdir(), 'binnacle-connections-'))
const container = join(place, 'container')
let kubelet: Kubelet
let server: RunningServer
let backend: ReturnType<typeof createServer>
let backendPort = 0
let secureBackend: ReturnType<typeof createSecureServer>
let securePort = 0

const audited = ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/log', 'pods/proxy']

/** kubectl from PATH, and those named by KUBECTLS, separated by colons. */
const kubectls = ['kubectl', ...(process.env.KUBECTLS ?? '').split(':')].filter(
  (one) => one !== '' && spawnSync(one, ['version', '--client']).status === 0,
)

before(async () => {
  mkdirSync(container)
  kubelet = await startKubelet(container)
  const files = {
    'kubelet-ca.pem': kubelet.ca.pem,
    'client.pem': kubelet.apiServer.pem,
    'client.key': kubelet.apiServer.keyPem,
  }
  const rules = [{ level: 'Metadata', resources: [{ group: '', resources: audited }] }]
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    rules: [...rules, { level: 'None' }],
  }
  const all = { ...files, 'policy.yaml': JSON.stringify(policy) }
  for (const [name, text] of Object.entries(all)) writeFileSync(join(place, name), text)
  server = await startServer([
    `--kubelet-certificate-authority=${join(place, 'kubelet-ca.pem')}`,
    `--kubelet-client-certificate=${join(place, 'client.pem')}`,
    `--kubelet-client-key=${join(place, 'client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--proxy-loopback-allowed',
    '--disable-admission-plugins=ServiceAccount',
    `--audit-policy-file=${join(place, 'policy.yaml')}`,
    `--audit-log-path=${join(place, 'audit.log')}`,
  ])
  backend = createServer((request, response) => {
    if (request.url === '/page') {
      response.setHeader('content-type', 'text/html')
      return void response.end('<a href="/x">x</a>')
    }
    const { host, authorization = '', 'x-forwarded-uri': uri } = request.headers
    const chunks: Buffer[] = []
    request.on('data', (bytes) => chunks.push(bytes))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          method: request.method,
          url: request.url,
          host,
          authorization,
          uri,
          body,
        }),
      )
    })
  })
  await new Promise<void>((resolve) => backend.listen(0, '0.0.0.0', resolve))
  backendPort = (backend.address() as { port: number }).port
  const own = { cert: kubelet.apiServer.pem, key: kubelet.apiServer.keyPem }
  secureBackend = createSecureServer(own, ({ url }, response) => response.end(`safe ${url}`))
  await new Promise<void>((resolve) => secureBackend.listen(0, '0.0.0.0', resolve))
  securePort = (secureBackend.address() as { port: number }).port
  await makeObjects()
})

after(async () => {
  await server?.stop()
  await kubelet?.stop()
  for (const one of [backend, secureBackend]) {
    one?.close()
    one?.closeAllConnections()
  }
  rmSync(place, { recursive: true, force: true })
})

const inDefault = '/api/v1/namespaces/default'

async function made(method: string, path: string, body: object): Promise<void> {
  const { status, text } = await server.ask(method, path, body)
  assert.ok(status < 300, text)
}

async function makeObjects(): Promise<void> {
  await made('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
  const nodeStatus = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  }
  await made('PUT', '/api/v1/nodes/n1/status', { metadata: { name: 'n1' }, status: nodeStatus })
  const pod = (name: string, more: object = {}) => ({
    metadata: { name },
    spec: {
      containers: [
        { name: 'main', image: 'a', ports: [{ containerPort: backendPort, name: 'web' }] },
      ],
      ...more,
    },
  })
  await made('POST', `${inDefault}/pods`, pod('p1', { nodeName: 'n1' }))
  const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] }
  await made('PUT', `${inDefault}/pods/p1/status`, { ...pod('p1', { nodeName: 'n1' }), status })
  await made('POST', `${inDefault}/pods`, pod('behind', { nodeName: 'n1' }))
  const seen = { phase: 'Running', podIP: ownAddress, podIPs: [{ ip: ownAddress }] }
  await made('PUT', `${inDefault}/pods/behind/status`, {
    ...pod('behind', { nodeName: 'n1' }),
    status: seen,
  })
  await made('POST', `${inDefault}/pods`, pod('unassigned'))
  const two = [
    { name: 'first', image: 'a' },
    { name: 'second', image: 'a' },
  ]
  await made('POST', `${inDefault}/pods`, {
    metadata: { name: 'two' },
    spec: { containers: two, nodeName: 'n1' },
  })
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function kubectl(program: string, args: readonly string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(
      program,
      [`--kubeconfig=${join(server.dataDir, 'admin.kubeconfig')}`, ...args],
      { stdio: 'pipe' },
    )
    let [out, err] = ['', '']
    child.stdout.on('data', (bytes) => (out += bytes))
    child.stderr.on('data', (bytes) => (err += bytes))
    child.on('close', (code) => resolve({ code, out, err }))
    child.stdin.end(input)
  })
}

for (const program of kubectls) {
  test(`${program} logs, followed and cut`, async () => {
    assert.equal((await kubectl(program, ['logs', 'p1'])).out, 'one\ntwo\nthree\n')
    assert.equal((await kubectl(program, ['logs', 'p1', '--tail=1'])).out, 'three\n')
    assert.equal((await kubectl(program, ['logs', '-f', 'p1'])).out, 'one\ntwo\nthree\nfour\n')
    assert.ok(kubelet.asked.every(({ by }) => by === 'kube-apiserver'))
  })

  test(`${program} exec, with input, output, errors and an exit code`, async () => {
    const plain = await kubectl(program, ['exec', 'p1', '--', 'echo', 'hello there'])
    assert.deepEqual([plain.out, plain.code], ['hello there\n', 0], plain.err)
    const large = 'a line of input\n'.repeat(20_000)
    const echoed = await kubectl(program, ['exec', '-i', 'p1', '--', 'cat'], large)
    assert.equal(echoed.out.length, large.length, echoed.err)
    const failed = await kubectl(program, ['exec', 'p1', '--', 'sh', '-c', 'echo oh >&2; exit 3'])
    assert.equal(failed.code, 3, failed.err)
    assert.match(failed.err, /^oh\n/)
  })

  test(`${program} attach, with input`, async () => {
    const { out, err } = await kubectl(program, ['attach', '-i', 'p1'], 'said and heard\n')
    assert.match(out, /said and heard\n/, err)
    assert.equal(kubelet.asked.at(-1)?.url, '/attach/default/p1/main?error=1&input=1&output=1')
  })

  test(`${program} cp, there and back`, async () => {
    const text = 'copied\n'.repeat(10_000)
    writeFileSync(join(place, 'there'), text)
    const there = await kubectl(program, [
      'cp',
      join(place, 'there'),
      `p1:${join(container, 'copy')}`,
    ])
    assert.equal(there.code, 0, there.err)
    assert.equal(readFileSync(join(container, 'copy'), 'utf8'), text)
    const back = await kubectl(program, [
      'cp',
      `p1:${join(container, 'copy')}`,
      join(place, 'back'),
    ])
    assert.equal(back.code, 0, back.err)
    assert.equal(readFileSync(join(place, 'back'), 'utf8'), text)
    rmSync(join(place, 'back'))
  })

  test(`${program} port-forward`, async () => {
    const port = await freePort()
    const child = spawn(
      program,
      [
        `--kubeconfig=${join(server.dataDir, 'admin.kubeconfig')}`,
        'port-forward',
        'pod/p1',
        `${port}:${backendPort}`,
      ],
      { stdio: 'pipe' },
    )
    try {
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', (bytes) => /Forwarding from 127/.test(String(bytes)) && resolve())
        child.stderr.on('data', (bytes) => reject(new Error(String(bytes))))
      })
      for (const path of ['/a', '/b']) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { connection: 'close' },
        })
        assert.equal(((await answer.json()) as { url: string }).url, path)
      }
    } finally {
      child.kill()
    }
  })
}

test('the proxy leads to a pod, with path, query and body, and without credentials', async () => {
  const direct = await server.ask('GET', `${inDefault}/pods/p1/proxy/a%20b/../c?d=1&e`)
  assert.equal(direct.status, 200, direct.text)
  assert.equal(direct.body.url, '/c?d=1&e')
  const posted = await server.ask('POST', `${inDefault}/pods/http:p1:${backendPort}/proxy/post/`, {
    some: 'body',
  })
  assert.deepEqual(
    [posted.body.method, posted.body.url, posted.body.body],
    ['POST', '/post/', '{"some":"body"}'],
  )
  const page = await server.ask('GET', `${inDefault}/pods/p1/proxy/page`)
  assert.equal(page.text, `<a href="${inDefault}/pods/p1/proxy/x">x</a>`)
})

test('a proxy request without a path is sent to the one with a slash', async () => {
  const { status } = await server.ask('GET', `${inDefault}/pods/p1/proxy`)
  assert.equal(status, 301)
})

test('the proxy leads to the kubelet of a node, and rewrites its redirects', async () => {
  assert.equal((await server.ask('GET', '/api/v1/nodes/n1/proxy/healthz')).text, 'ok')
  assert.equal(
    (await server.ask('GET', `/api/v1/nodes/n1:${kubelet.port}/proxy/healthz`)).text,
    'ok',
  )
  assert.equal((await server.ask('GET', '/api/v1/nodes/n1/proxy/redirect')).status, 302)
})

test('the proxy leads to a service by its endpoints, which must be pods', async () => {
  await made('POST', `${inDefault}/services`, {
    metadata: { name: 's1' },
    spec: { ports: [{ name: 'web', port: 80 }] },
  })
  const named = async (id: string) => server.ask('GET', `${inDefault}/services/${id}/proxy/x`)
  assert.equal((await named('s1:web')).body.message, 'services "s1" not found')
  assert.equal((await named('s1:81')).body.message, 'no service port 81 found for service "s1"')
  assert.equal((await named('a:b:c:d')).body.message, 'invalid service request "a:b:c:d"')
})

test('the proxy leads on to an endpoint that is a pod, by name and by number, with and without TLS', {
  skip: lonely,
}, async () => {
  const answered = { ports: [{ name: 'web', port: backendPort }], addresses: [podAddress()] }
  const secure = { ports: [{ name: 'safe', port: securePort }], addresses: [podAddress()] }
  await made('POST', `${inDefault}/services`, {
    metadata: { name: 's2' },
    spec: {
      ports: [
        { name: 'web', port: 80 },
        { name: 'safe', port: 443 },
      ],
    },
  })
  await made('POST', `${inDefault}/endpoints`, {
    metadata: { name: 's2' },
    subsets: [answered, secure],
  })
  for (const id of ['s2:web', 's2:80', 'http:s2:web']) {
    const { status, body, text } = await server.ask(
      'GET',
      `${inDefault}/services/${id}/proxy/a?b=c`,
    )
    assert.deepEqual([status, body?.url], [200, '/a?b=c'], `${id}: ${text}`)
  }
  for (const id of ['https:s2:safe', 'https:s2:443']) {
    const { status, text } = await server.ask('GET', `${inDefault}/services/${id}/proxy/a`)
    assert.deepEqual([status, text], [200, 'safe /a'], id)
  }
  const posted = await server.ask('POST', `${inDefault}/services/s2:web/proxy/b`, { some: 'body' })
  assert.deepEqual([posted.body.method, posted.body.body], ['POST', '{"some":"body"}'])
})

const podAddress = () => ({
  ip: ownAddress,
  targetRef: { kind: 'Pod', namespace: 'default', name: 'behind' },
})

test('endpoints that are no pods of the namespace are not followed', async () => {
  await made('POST', `${inDefault}/services`, {
    metadata: { name: 's3' },
    spec: { ports: [{ port: 80 }] },
  })
  const subsets = [{ ports: [{ port: backendPort }], addresses: [{ ip: '192.0.2.7' }] }]
  await made('POST', `${inDefault}/endpoints`, { metadata: { name: 's3' }, subsets })
  const answer = await server.ask('GET', `${inDefault}/services/s3:80/proxy/`)
  assert.equal(answer.status, 503, answer.text)
  assert.equal(answer.body.message, 'no endpoints available for service "s3:80"')
})

test('connections pass admission: a webhook sees the options, and may reject', async () => {
  const hooks = await WebhookServer.start()
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  hooks.paths.set('/connections', ({ subResource }) => ({
    allowed: subResource === 'proxy',
    status: { message: `no ${subResource} here`, code: 403 },
  }))
  try {
    await made('POST', configurations, {
      metadata: { name: 'connections' },
      webhooks: [
        {
          name: 'connections.example.com',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: hooks.at('/connections'),
          rules: [
            {
              operations: ['CONNECT'],
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['pods/*', 'nodes/*', 'services/*'],
            },
          ],
        },
      ],
    })
    const exec = `${inDefault}/pods/p1/exec?command=a&command=b&stdin=true&container=main`
    const refused = async () => {
      const heard = await raw(
        `POST ${exec} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`,
      )
      return /no exec here/.test(heard) && heard
    }
    let heard: string | false = false
    for (let i = 0; i < 100 && heard === false; i++) heard = await refused()
    assert.match(String(heard), /^HTTP\/1\.1 403 Forbidden\r\n/)
    assert.match(
      String(heard),
      /admission webhook \\"connections\.example\.com\\" denied the request: no exec here/,
    )
    const { operation, kind, name, object, options } = hooks.received.at(-1)?.review.request ?? {}
    assert.deepEqual(
      { operation, kind, name, object, options },
      {
        operation: 'CONNECT',
        kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
        name: 'p1',
        object: {
          kind: 'PodExecOptions',
          apiVersion: 'v1',
          stdin: true,
          container: 'main',
          command: ['a', 'b'],
        },
        options: null,
      },
    )
    for (const subresource of ['attach', 'portforward']) {
      const { status, body } = await server.ask('GET', `${inDefault}/pods/p1/${subresource}`)
      assert.equal(status, 403)
      assert.match(body.message, new RegExp(`no ${subresource} here`))
    }
    assert.equal((await server.ask('GET', `${inDefault}/pods/p1/proxy/x`)).status, 200)
    assert.equal(hooks.received.at(-1)?.review.request.object.path, '/x')
    assert.equal((await server.ask('GET', `${inDefault}/pods/p1/log`)).status, 200)
  } finally {
    await server.ask('DELETE', `${configurations}/connections`)
    hooks.stop()
  }
})

test('a webhook may change the options, and the kubelet gets the changed ones', async () => {
  const hooks = await WebhookServer.start()
  const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  hooks.paths.set('/changes', ({ subResource }) => {
    const op = 'add'
    const changes =
      subResource === 'exec'
        ? [{ op, path: '/command', value: ['echo', 'changed'] }]
        : [{ op, path: '/path', value: '/../changed' }]
    const patch = Buffer.from(JSON.stringify(changes)).toString('base64')
    return { allowed: true, patchType: 'JSONPatch', patch }
  })
  try {
    const rule = { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'] }
    await made('POST', configurations, {
      metadata: { name: 'changes' },
      webhooks: [
        {
          name: 'changes.example.com',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: hooks.at('/changes'),
          rules: [{ ...rule, resources: ['pods/exec', 'pods/proxy'] }],
        },
      ],
    })
    await until('the webhook', async () => {
      const { body } = await server.ask('GET', `${inDefault}/pods/p1/proxy/asked`)
      return body?.url === '/changed'
    })
    const headers = ['Sec-WebSocket-Protocol: v5.channel.k8s.io']
    const exec = `${inDefault}/pods/p1/exec?command=ls&stdout=1`
    const { messages } = await bySocket(exec, headers)
    assert.equal(messages[0]?.[1], '\x01changed\n')
  } finally {
    await server.ask('DELETE', `${configurations}/changes`)
    await until('its end', async () => {
      const { body } = await server.ask('GET', `${inDefault}/pods/p1/proxy/asked`)
      return body?.url === '/asked'
    })
    hooks.stop()
  }
})

// path, status, message
const refusals: [string, number, string][] = [
  ['pods/p1/exec?command=a', 400, 'Upgrade request required'],
  ['pods/p1/attach', 400, 'Upgrade request required'],
  ['pods/p1/portforward', 400, 'Upgrade request required'],
  [
    'pods/p1/portforward?ports=x',
    400,
    'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax',
  ],
  ['pods/none/exec', 404, 'pods "none" not found'],
  ['pods/none/log', 404, 'pods "none" not found'],
  ['pods/p1/exec?container=other', 400, 'container other is not valid for pod p1'],
  [
    'pods/two/log',
    400,
    'a container name must be specified for pod two, choose one of: [first second]',
  ],
  ['pods/unassigned/exec', 400, 'pod unassigned does not have a host assigned'],
  ['pods/p1/log?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  [
    'pods/p1/log?tailLines=-1',
    422,
    'PodLogOptions "p1" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'pods/p1/log?limitBytes=0',
    422,
    'PodLogOptions "p1" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
  ],
  [
    'pods/p1/log?sinceSeconds=0',
    422,
    'PodLogOptions "p1" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
  ],
  ['pods/unassigned/proxy/', 400, 'address not allowed'],
  ['pods/a:b:c:d/proxy/', 400, 'invalid pod request "a:b:c:d"'],
  ['pods/p1/exec?dryRun=All', 400, 'dryRun is not supported'],
]
for (const [path, status, message] of refusals) {
  test(`GET ${path} is refused: ${message}`, async () => {
    const answer = await server.ask('GET', `${inDefault}/${path}`)
    assert.deepEqual([answer.status, answer.body?.message], [status, message], answer.text)
  })
}

test('methods that connections do not know', async () => {
  assert.equal((await server.ask('DELETE', `${inDefault}/pods/p1/exec`)).status, 405)
  assert.equal((await server.ask('PUT', `${inDefault}/pods/p1/log`)).status, 405)
})

test('logs of a pod without a node are nothing', async () => {
  const { status, text } = await server.ask('GET', `${inDefault}/pods/unassigned/log`)
  assert.deepEqual([status, text], [204, ''])
})

test('an upgrade that is refused is answered as any request', async () => {
  const asked = await raw(
    `GET ${inDefault}/pods/none/exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`,
  )
  assert.match(asked, /^HTTP\/1\.1 404 Not Found\r\n/)
  assert.match(asked, /pods \\"none\\" not found/)
})

test('an upgrade of what cannot leave HTTP is an ordinary request', async () => {
  const asked = await raw(
    `GET ${inDefault}/pods/none HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
  )
  assert.match(asked, /^HTTP\/1\.1 404 Not Found\r\n/)
})

interface Messages {
  readonly head: string
  readonly messages: readonly (readonly [opcode: number, text: string])[]
}

/**
 * What comes by WebSocket until it ends or `enough` was received; with the opcode of each message.
 */
async function bySocket(path: string, headers: string[], enough?: RegExp): Promise<Messages> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: a',
    'Connection: keep-alive, Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    ...headers,
  ]
  const heard = Buffer.from(await raw(`${lines.join('\r\n')}\r\n\r\n`, enough), 'latin1')
  const end = heard.indexOf('\r\n\r\n')
  const messages: [number, string][] = []
  for (let at = end + 4; at + 2 <= heard.length; ) {
    const [opcode, short] = [heard[at] & 0x0f, heard[at + 1]]
    const length =
      short === 127
        ? Number(heard.readBigUInt64BE(at + 2))
        : short === 126
          ? heard.readUInt16BE(at + 2)
          : short
    at += short === 127 ? 10 : short === 126 ? 4 : 2
    messages.push([opcode, heard.toString('utf8', at, at + length)])
    at += length
  }
  return { head: heard.toString('latin1', 0, end), messages }
}

const origin = 'Origin: https://dashboard.example.com'

test('a watch by WebSocket: an event, a message, and a close when its time is over', async () => {
  const path = '/api/v1/namespaces?watch=1&timeoutSeconds=1'
  const { head, messages } = await bySocket(path, [origin])
  assert.match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  assert.match(head, /\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=(\r\n|$)/)
  const events = messages.slice(0, -1)
  assert.ok(events.length >= 4)
  for (const [opcode, text] of events) {
    assert.equal(opcode, 1)
    assert.equal(JSON.parse(text).object.kind, 'Namespace')
  }
  assert.equal(messages.at(-1)?.[0], 8)
  const protobuf = await bySocket(path, [
    origin,
    'Accept: application/vnd.kubernetes.protobuf',
    'Sec-WebSocket-Protocol: any',
  ])
  assert.match(protobuf.head, /\r\nSec-WebSocket-Protocol: any(\r\n|$)/)
  const [first] = protobuf.messages
  assert.equal(first[0], 2)
  assert.match(first[1], /^\n\x05ADDED\x12/)
})

test('a watch by WebSocket that happens', async () => {
  const path = `${inDefault}/configmaps?watch=1&labelSelector=by=socket`
  const heard = bySocket(path, [origin], /"name":"told"/)
  const metadata = { name: 'told', labels: { by: 'socket' } }
  await new Promise((resolve) => setTimeout(resolve, 50))
  await made('POST', `${inDefault}/configmaps`, { metadata })
  const { messages } = await heard
  assert.deepEqual(
    messages.map(([opcode, text]) => [opcode, JSON.parse(text).type]),
    [[1, 'ADDED']],
  )
})

// headers, status
const noSockets: [string[], string][] = [
  [[], '403 Forbidden'],
  [['Origin: null'], '403 Forbidden'],
  [[origin, 'Sec-WebSocket-Protocol: a, b'], '400 Bad Request'],
  [[origin, 'Accept: application/yaml'], '406 Not Acceptable'],
]
for (const [headers, status] of noSockets) {
  test(`a watch by WebSocket with ${headers.join(' and ') || 'no origin'}: ${status}`, async () => {
    const { head } = await bySocket('/api/v1/namespaces?watch=1', headers)
    assert.ok(head.startsWith(`HTTP/1.1 ${status}\r\n`), head)
  })
}

// subprotocol, messages
const logs: [string, [number, string][]][] = [
  ['', [[2, 'one\ntwo\nthree\n']]],
  ['binary.k8s.io', [[2, 'one\ntwo\nthree\n']]],
  ['unknown, base64.binary.k8s.io', [[1, 'b25lCnR3bwp0aHJlZQo=']]],
]
for (const [protocol, wanted] of logs) {
  test(`a log by WebSocket with the protocol "${protocol}"`, async () => {
    const asked = protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]
    const { messages } = await bySocket(`${inDefault}/pods/p1/log`, asked)
    assert.deepEqual(messages, [[wanted[0][0], ''], ...wanted, [8, '\x03\ufffd']])
  })
}

test('a log by an unknown WebSocket protocol is rejected', async () => {
  const { head } = await bySocket(`${inDefault}/pods/p1/log`, ['Sec-WebSocket-Protocol: x'])
  assert.match(head, /^HTTP\/1\.1 403 Forbidden\r\n/)
})

const hello = 'exec?command=echo&command=hi&stdout=1'
const success = '\x03{"metadata":{},"status":"Success"}'
const exitCode = '"reason":"ExitCode","message":"3"'
// the request, its protocol, the head of the response, what comes
const execs: [string, string, string, (string | RegExp)[]][] = [
  [hello, 'v4.channel.k8s.io', '101', ['\x01hi\n', success]],
  [hello, 'v5.channel.k8s.io', '101', ['\x01hi\n', success]],
  ['exec?command=sh&command=-c&command=exit+3', 'v5.channel.k8s.io', '101', [new RegExp(exitCode)]],
  [`${hello}&container=main`, 'v5.channel.k8s.io, v4.channel.k8s.io', '101', ['\x01hi\n', success]],
  [hello, 'nobody.knows', '403', []],
  ['exec', 'v4.channel.k8s.io', '400', []],
  [`${hello}&container=other`, 'v4.channel.k8s.io', '400', []],
]
for (const [asked, protocol, status, wanted] of execs) {
  test(`${asked} by WebSocket, as ${protocol}: ${status}`, async () => {
    const headers = [`Sec-WebSocket-Protocol: ${protocol}`]
    const { head, messages } = await bySocket(`${inDefault}/pods/p1/${asked}`, headers)
    assert.ok(head.startsWith(`HTTP/1.1 ${status} `), head)
    if (status !== '101') return
    assert.match(head, new RegExp(`\r\nSec-WebSocket-Protocol: ${protocol.split(',')[0]}(\r\n|$)`))
    const texts = messages.filter(([opcode]) => opcode === 2).map(([, text]) => text)
    assert.equal(texts.length, wanted.length, texts.join())
    for (const [i, one] of wanted.entries())
      if (typeof one === 'string') assert.equal(texts[i], one)
      else assert.match(texts[i] ?? '', one)
  })
}

// the request, the request to the kubelet
const passed: [string, string][] = [
  ['exec?command=a+b&stdout=true', '/exec/default/p1/main?command=a+b&output=1'],
  [
    'exec?command=a&command=b&stdin=1&stdout=1&stderr=1&tty=1&container=main',
    '/exec/default/p1/main?command=a&command=b&error=1&input=1&output=1&tty=1',
  ],
  ['attach?stdin=1&stdout=0&command=x', '/attach/default/p1/main?input=1'],
  ['attach?stderr=1', '/attach/default/p1/main?error=1'],
  ['portforward?ports=80,81&ports=82', '/portForward/default/p1?port=80%2C81%2C82'],
  ['portforward', '/portForward/default/p1'],
]
for (const [asked, expected] of passed) {
  test(`${asked}: the kubelet gets ${expected}`, async () => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n'
    const request = `POST ${inDefault}/pods/p1/${asked} HTTP/1.1\r\nHost: a.example.com\r\n${upgrade}\r\n`
    assert.match(await raw(request, /\r\n\r\n/), /^HTTP\/1\.1 101 /)
    assert.equal(kubelet.asked.at(-1)?.url, expected)
  })
}

// path behind the pod's proxy, the path for its backend: never anything but the pod, never more
// than its own paths
const tricks: [string, string][] = [
  ['/..%2f..%2f..%2fnodes', '/nodes'],
  ['/%2e%2e/%2E%2E/secrets', '/secrets'],
  ['//169.254.169.254/latest', '/169.254.169.254/latest'],
  ['/%2F%2Fexample.com/', '/example.com/'],
  ['/http://example.com/', '/http:/example.com/'],
  ['/@example.com:80/', '/@example.com:80/'],
  ['/a%5C..%5Cb', '/a%5C..%5Cb'],
  ['/a%3Fb=c%23d', '/a%3Fb=c%23d'],
  ['/%E2%82%AC', '/%E2%82%AC'],
  ['/a?path=/b&x=..%2f', '/a?path=/b&x=..%2f'],
]
for (const [path, expected] of tricks) {
  test(`a pod gets ${expected} for ${path}`, async () => {
    const { body, text } = await server.ask('GET', `${inDefault}/pods/p1/proxy${path}`)
    assert.equal(body?.url, expected, text)
  })
}

// what would end a header, or lead elsewhere
const refusedPaths: [string, number][] = [
  ['pods/p1/proxy/a%0D%0AX-Remote-User:%20root', 503],
  ['pods/p1/proxy/a%00', 503],
  ['pods/p1:80@example.com/proxy/', 400],
  ['pods/p1:0/proxy/', 503],
  ['pods/p1%2F..%2Fp2/proxy/', 404],
  ['services/s1:80%2F/proxy/', 404],
]
for (const [path, status] of refusedPaths) {
  test(`${path}: ${status}`, async () => {
    const answer = await server.ask('GET', `${inDefault}/${path}`)
    assert.equal(answer.status, status, answer.text)
  })
}

test('a body in chunks reaches a pod as a body', async () => {
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n'
  const heard = await raw(
    `POST ${inDefault}/pods/p1/proxy/body HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
  )
  assert.match(heard, /"url":"\/body"/)
  assert.ok(heard.includes(JSON.stringify(hidden)), heard)
})

test('connections are authorised one by one, and audited', async () => {
  const may = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' }
  await made('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'connects' },
    rules: [
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    ],
  })
  await made('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'connects' },
    roleRef: { apiGroup: may.apiGroup, kind: 'ClusterRole', name: 'connects' },
    subjects: [may],
  })
  const asCarol = { 'Impersonate-User': 'carol' }
  // method, path, status
  const rows: [string, string, number][] = [
    ['POST', 'pods/p1/exec?command=a', 400],
    ['GET', 'pods/p1/exec?command=a', 403],
    ['POST', 'pods/p1/attach', 403],
    ['POST', 'pods/p1/portforward', 403],
    ['GET', 'pods/p1/log', 200],
    ['GET', 'pods/p1/proxy/x', 403],
    ['GET', 'services/s1/proxy/x', 403],
  ]
  for (const [method, path, status] of rows) {
    const answer = await server.ask(method, `${inDefault}/${path}`, undefined, asCarol)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
  }
  assert.equal(
    (await server.ask('GET', '/api/v1/nodes/n1/proxy/x', undefined, asCarol)).status,
    403,
  )
  const lines = () =>
    readFileSync(join(place, 'audit.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter(({ impersonatedUser }) => impersonatedUser?.username === 'carol')
      .filter(({ stage }) => stage === 'ResponseComplete')
      .map(
        ({ verb, objectRef, responseStatus }) =>
          `${verb} ${objectRef.name}/${objectRef.subresource} ${responseStatus.code}`,
      )
  await until('the audit log', () => lines().length >= 6)
  assert.deepEqual(lines(), [
    'create p1/exec 400',
    'get p1/exec 403',
    'create p1/attach 403',
    'create p1/portforward 403',
    'get p1/log 200',
    'get p1/proxy 403',
  ])
})

/** Until the other side ends, or enough was heard. */
function raw(request: string, enough?: RegExp): Promise<string> {
  const pem = (name: string) => readFileSync(join(server.dataDir, 'pki', name))
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      port: server.port,
      host: '127.0.0.1',
      ca: pem('ca.crt'),
      cert: pem('admin.crt'),
      key: pem('admin.key'),
      ALPNProtocols: ['http/1.1'],
    })
    let heard = ''
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1')
      if (enough?.test(heard)) socket.destroy()
    })
    socket.on('close', () => resolve(heard))
    socket.on('error', reject)
    socket.write(request)
  })
}

test('the machine itself is no target unless allowed', async () => {
  const strict = await startServer(['--disable-admission-plugins=ServiceAccount'])
  try {
    await strict.ask('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
    await strict.ask('PUT', '/api/v1/nodes/n1/status', {
      metadata: { name: 'n1' },
      status: { addresses },
    })
    const answer = await strict.ask('GET', '/api/v1/nodes/n1/proxy/healthz')
    assert.deepEqual([answer.status, answer.body.message], [400, 'address not allowed'])
  } finally {
    await strict.stop()
  }
})
