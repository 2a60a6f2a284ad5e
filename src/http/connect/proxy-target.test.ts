/**
 * The backends of the proxy subresources, and the forbidden ones: addresses that users write are
 * not trusted.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { RequestTarget } from '#http/request/request-target.ts'
import { placeOf } from './backend.ts'
import type { ConnectParts } from './connect-parts.ts'
import { proxyBackend, trustFor } from './proxy-target.ts'

const withIps = (...ips: string[]) => ({ status: { podIPs: ips.map((ip) => ({ ip })) } })
const ports = (...numbers: number[]) => ({
  ports: numbers.map((containerPort) => ({ containerPort })),
})
const podRef = (name: string, namespace = 'default') => ({ targetRef: { namespace, name } })
const node = (address: string, type = 'InternalIP', Port?: number) => ({
  status: { addresses: [{ type, address }], daemonEndpoints: { kubeletEndpoint: { Port } } },
})
const endpoints = (addresses: Loose[], ...ports: Loose[]) => ({ subsets: [{ addresses, ports }] })

const objects: Record<string, Loose> = {
  'pods/default/plain': withIps('10.0.0.1'),
  'pods/default/six': withIps('2001:db8::1', '10.0.0.6'),
  'pods/default/served': { ...withIps('10.0.0.2'), spec: { containers: [{}, ports(8080, 9090)] } },
  'pods/default/waiting': {},
  'pods/default/itself': withIps('127.0.0.1'),
  'pods/default/metadata': withIps('169.254.169.254'),
  'pods/other/theirs': withIps('10.0.0.9'),
  'services/default/web': {
    spec: { ports: [{ port: 80, name: 'http' }, { port: 443 }, { port: 81, name: 'gone' }] },
  },
  'endpoints/default/web': {
    subsets: [
      {
        addresses: [{ ip: '10.0.0.1', ...podRef('plain') }],
        ports: [{ name: 'http', port: 8080 }],
      },
      { addresses: [{ ip: '10.0.0.2', ...podRef('served') }], ports: [{ port: 8443 }] },
    ],
  },
  'endpoints/default/empty': {},
  'endpoints/default/unready': { subsets: [{ notReadyAddresses: [{}], ports: [{ port: 80 }] }] },
  'endpoints/default/bare': endpoints([{ ip: '10.0.0.1' }], { port: 80 }),
  'endpoints/default/lying': endpoints([{ ip: '10.0.0.99', ...podRef('plain') }], { port: 80 }),
  'endpoints/default/missing': endpoints([{ ip: '10.0.0.1', ...podRef('none') }], { port: 80 }),
  'endpoints/default/foreign': endpoints([{ ip: '10.0.0.9', ...podRef('theirs', 'other') }], {
    port: 80,
  }),
  // A pod of another namespace with the same name and address.
  'endpoints/default/alike': endpoints([{ ip: '10.0.0.1', ...podRef('plain', 'other') }], {
    port: 80,
  }),
  'endpoints/default/inward': endpoints([{ ip: '127.0.0.1', ...podRef('itself') }], { port: 80 }),
  'endpoints/default/metadata': endpoints([{ ip: '169.254.169.254', ...podRef('metadata') }], {
    port: 80,
  }),
  'endpoints/default/mixed': endpoints(
    [{ ip: '10.0.0.7' }, { ip: '10.0.0.1', ...podRef('plain') }],
    { port: 80 },
  ),
  'nodes//here': node('10.1.0.1'),
  'nodes//elsewhere': node('10.1.0.2', 'InternalIP', 11250),
  'nodes//itself': node('127.0.0.1'),
  'nodes//metadata': node('169.254.169.254'),
  'nodes//named': node('localhost'),
  'nodes//unknown': node('10.1.0.3', 'ExternalIP'),
}

const trust = { insecure: false, ca: 'the kubelets' }
const parts = (proxyLoopbackAllowed = false, random = 0) =>
  ({
    reader: {
      get: async (_group: string, plural: string, namespace: string, name: string) =>
        objects[`${plural}/${namespace}/${name}`],
    },
    kubelet: { trust, blindTrust: trust, addressTypes: ['InternalIP'] },
    proxyLoopbackAllowed,
    random: () => random,
  }) as unknown as ConnectParts

async function lead(requested: string, by = parts()): Promise<string> {
  const [resource, name] = requested.split('/')
  const namespace = resource === 'nodes' ? '' : 'default'
  try {
    const backend = await proxyBackend({ resource, namespace, name } as RequestTarget, by)
    const known = backend.trust === trust ? ' as a kubelet' : ''
    assert.ok(known !== '' || backend.trust.insecure, 'credentials go to kubelets alone')
    return `${backend.secure ? 'https' : 'http'}://${placeOf(backend)}${known}`
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`
    throw error
  }
}

const noEndpoints = (name: string) => `503 no endpoints available for service "${name}"`
const rows: [requested: string, place: string][] = [
  ['pods/plain', 'http://10.0.0.1:80'],
  ['pods/plain:8080', 'http://10.0.0.1:8080'],
  ['pods/https:plain:', 'https://10.0.0.1:443'],
  ['pods/https:plain:8443', 'https://10.0.0.1:8443'],
  ['pods/six:80', 'http://[2001:db8::1]:80'],
  ['pods/served', 'http://10.0.0.2:8080'],
  ['pods/https:served:', 'https://10.0.0.2:8080'],
  ['pods/served:1', 'http://10.0.0.2:1'],
  ['pods/plain:65535', 'http://10.0.0.1:65535'],
  ['pods/plain:65536', '503 error trying to reach service: dial tcp: address 65536: invalid port'],
  ['pods/plain:-1', '400 invalid port "-1"'],
  ['pods/plain:80@10.9.9.9', '400 invalid port "80@10.9.9.9"'],
  ['pods/none', '404 pods "none" not found'],
  ['pods/theirs', '404 pods "theirs" not found'],
  ['pods/waiting', '400 address not allowed'],
  ['pods/itself', '400 address not allowed'],
  ['pods/metadata', '400 address not allowed'],
  ['pods/ftp:plain:21', '400 invalid pod request "ftp:plain:21"'],

  ['services/web:http', 'http://10.0.0.1:8080'],
  ['services/web:80', 'http://10.0.0.1:8080'],
  ['services/web', 'http://10.0.0.2:8443'],
  ['services/https:web:443', 'https://10.0.0.2:8443'],
  ['services/web:82', '503 no service port 82 found for service "web"'],
  ['services/web:81', noEndpoints('web:81')],
  ['services/web:other', noEndpoints('web:other')],
  ['services/none', '404 services "none" not found'],
  ['services/none:80', '404 services "none" not found'],
  ['services/empty', noEndpoints('empty')],
  ['services/unready', noEndpoints('unready')],
  ['services/bare', noEndpoints('bare')],
  ['services/lying', noEndpoints('lying')],
  ['services/missing', noEndpoints('missing')],
  ['services/foreign', noEndpoints('foreign')],
  ['services/alike', noEndpoints('alike')],
  ['services/mixed', 'http://10.0.0.1:80'],
  ['services/inward', '400 address not allowed'],
  ['services/metadata', '400 address not allowed'],
  ['services/a:b:c:d', '400 invalid service request "a:b:c:d"'],

  ['nodes/here', 'https://10.1.0.1:10250 as a kubelet'],
  ['nodes/here:10250', 'https://10.1.0.1:10250 as a kubelet'],
  ['nodes/http:here:10250', 'https://10.1.0.1:10250 as a kubelet'],
  ['nodes/elsewhere', 'https://10.1.0.2:11250 as a kubelet'],
  ['nodes/elsewhere:10250', 'http://10.1.0.2:10250'],
  ['nodes/https:here:9100', 'https://10.1.0.1:9100'],
  ['nodes/here:9100', 'http://10.1.0.1:9100'],
  ['nodes/here:x', '400 invalid port "x"'],
  ['nodes/none', '404 nodes "none" not found'],
  ['nodes/itself', '400 address not allowed'],
  ['nodes/metadata', '400 address not allowed'],
  ['nodes/unknown', '500 no preferred addresses found; known addresses: [{ExternalIP 10.1.0.3}]'],
  ['nodes/:80', '400 invalid node request ":80"'],
]
for (const [requested, place] of rows) {
  test(`${requested} leads to ${place}`, async () => assert.equal(await lead(requested), place))
}

const inward: [requested: string, place: string][] = [
  ['pods/itself', 'http://127.0.0.1:80'],
  ['services/inward', 'http://127.0.0.1:80'],
  ['nodes/itself', 'https://127.0.0.1:10250 as a kubelet'],
  ['pods/metadata', '400 address not allowed'],
  ['nodes/metadata', '400 address not allowed'],
]
for (const [requested, place] of inward) {
  test(`allowed to lead to this machine, ${requested} leads to ${place}`, async () =>
    assert.equal(await lead(requested, parts(true)), place))
}

test('every endpoint is tried, wherever the random start is', async () => {
  for (const random of [0, 0.5, 0.999]) {
    assert.equal(await lead('services/mixed', parts(false, random)), 'http://10.0.0.1:80')
    assert.equal(await lead('services/web:http', parts(false, random)), 'http://10.0.0.1:8080')
  }
})

test('a named node is called by a resolved address, and its certificate must have the name', async () => {
  const target = { resource: 'nodes', namespace: '', name: 'named' } as RequestTarget
  const first = await proxyBackend(target, parts(true))
  assert.match(first.host, /^(127\.0\.0\.1|::1)$/)
  assert.deepEqual(first.trust, { ...trust, serverName: 'localhost' })
  // The key of the connection pool.
  assert.equal((await proxyBackend(target, parts(true))).trust, first.trust)
})

test('the cache of node names is bounded', () => {
  const of = (host: string) => trustFor({ secure: true, host, port: 10250, trust }, '10.0.0.1')
  const first = of('node-0')
  assert.equal(of('node-0'), first)
  for (let i = 1; i <= 5000; i++) of(`node-${i}`)
  assert.notEqual(of('node-0'), first)
  assert.deepEqual(of('node-0'), first)
})
