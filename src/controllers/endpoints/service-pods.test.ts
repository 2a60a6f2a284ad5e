import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { subsetsOf } from './endpoint-subsets.ts'
import { mirroredGroups, mirrorMetadata } from './mirrored-slices.ts'
import { groupsOf } from './service-slices.ts'

interface Pod {
  name: string
  ips?: string[]
  isReady?: boolean
  phase?: string
  isLeaving?: boolean
  spec?: Loose
}
const pod = ({ name, ips = [], isReady = true, phase = 'Running', ...more }: Pod): KubeObject => ({
  metadata: {
    name,
    namespace: 'default',
    uid: name,
    ...(more.isLeaving && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
  },
  spec: {
    nodeName: 'node',
    containers: [{ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
    ...more.spec,
  },
  status: {
    phase,
    podIPs: ips.map((ip) => ({ ip })),
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
  },
})
const service = (spec: Loose = {}): KubeObject => ({
  metadata: { name: 'web', namespace: 'default', uid: 'web' },
  spec: {
    clusterIP: '10.0.0.1',
    ipFamilies: ['IPv4'],
    ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }],
    ...spec,
  },
})

const named = { ports: [{ name: 'w', port: 80, targetPort: 'http', protocol: 'TCP' }] }
const both = { ipFamilies: ['IPv6', 'IPv4'] }
const dual = ['10.1.0.1', 'fd00::1']
const side = {
  containers: [{}],
  initContainers: [{ restartPolicy: 'Always', ports: [{ name: 'http', containerPort: 9090 }] }],
}
/** `ready / not ready : ports` of each subset; then addresses and conditions of each slice. */
type Row = [what: string, service: Loose, Pod[], subsets: string[], slices: string[]]
const rows: Row[] = [
  ['no pods', {}, [], [], ['IPv4  ']],
  ['a pod without address', {}, [{ name: 'a' }], [], ['IPv4  ']],
  ['a pod', {}, [{ name: 'a', ips: dual }], ['10.1.0.1/:8080'], ['IPv4 8080 10.1.0.1 rs']],
  [
    'a pod that is not ready',
    {},
    [{ name: 'a', ips: dual, isReady: false }],
    ['/10.1.0.1:8080'],
    ['IPv4 8080 10.1.0.1 '],
  ],
  ['a pod that has ended', {}, [{ name: 'a', ips: dual, phase: 'Failed' }], [], ['IPv4  ']],
  [
    'a pod that ends',
    {},
    [{ name: 'a', ips: dual, isLeaving: true }],
    [],
    ['IPv4 8080 10.1.0.1 st'],
  ],
  [
    'pods that are published anyway',
    { publishNotReadyAddresses: true },
    [{ name: 'a', ips: dual, isLeaving: true, isReady: false }],
    ['10.1.0.1/:8080'],
    ['IPv4 8080 10.1.0.1 rt'],
  ],
  [
    'both families',
    both,
    [{ name: 'a', ips: dual }],
    ['fd00::1/:8080'],
    ['IPv6 8080 fd00::1 rs', 'IPv4 8080 10.1.0.1 rs'],
  ],
  [
    'a port by name',
    named,
    [{ name: 'a', ips: dual }],
    ['10.1.0.1/:w8080'],
    ['IPv4 w8080 10.1.0.1 rs'],
  ],
  [
    'a port of a sidecar',
    named,
    [{ name: 'a', ips: dual, spec: side }],
    ['10.1.0.1/:w9090'],
    ['IPv4 w9090 10.1.0.1 rs'],
  ],
  [
    'no ports',
    { ports: [], clusterIP: 'None' },
    [{ name: 'a', ips: dual }],
    ['10.1.0.1/:'],
    ['IPv4  10.1.0.1 rs'],
  ],
]
const ips = (addresses: Loose[] = []) => addresses.map(({ ip }) => ip).join()
const portsText = (ports: readonly Loose[] = []) =>
  ports.map(({ name = '', port }) => `${name}${port}`).join()
const letters = ({ ready, serving, terminating }: Loose) =>
  `${ready ? 'r' : ''}${serving ? 's' : ''}${terminating ? 't' : ''}`
for (const [what, spec, pods, subsets, slices] of rows)
  test(`a service with ${what}`, () => {
    const found = pods.map(pod)
    const { subsets: actual } = subsetsOf(service(spec), found)
    assert.deepEqual(
      actual.map(
        ({ addresses, notReadyAddresses, ports }) =>
          `${ips(addresses)}/${ips(notReadyAddresses)}:${portsText(ports)}`,
      ),
      subsets,
    )
    const groups = groupsOf(service(spec), found, () => 'zone')
    assert.deepEqual(
      groups.map(({ addressType, ports, endpoints }) =>
        [
          addressType,
          portsText(ports),
          endpoints.map(({ addresses, conditions }) => `${addresses} ${letters(conditions)}`),
        ].join(' '),
      ),
      slices,
    )
  })

test('a pod on a missing node is in no slice, unless everything is published', () => {
  const found = [pod({ name: 'a', ips: dual })]
  const counts = [{}, { publishNotReadyAddresses: true }].map(
    (spec) => groupsOf(service(spec), found, () => undefined)[0]?.endpoints.length,
  )
  assert.deepEqual(counts, [0, 1])
})

test('of more than 1000 addresses the ready ones stay', () => {
  const pods = Array.from({ length: 1200 }, (_, i) =>
    pod({ name: `p${i}`, ips: [`10.1.${i >> 8}.${i & 255}`], isReady: i < 900 }),
  )
  const { subsets, isTruncated } = subsetsOf(service(), pods)
  assert.equal(isTruncated, true)
  assert.deepEqual(
    subsets.map(({ addresses, notReadyAddresses }) => [addresses.length, notReadyAddresses.length]),
    [[900, 100]],
  )
})

test('Endpoints are mirrored by family, without invalid addresses', () => {
  const endpoints: KubeObject = {
    metadata: {
      name: 'web',
      uid: 'web',
      labels: { a: 'b' },
      annotations: { c: 'd', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    subsets: [
      {
        addresses: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }, { ip: 'x' }],
        notReadyAddresses: [{ ip: '10.1.0.2', hostname: 'h' }],
        ports: [{ port: 80, protocol: 'TCP' }],
      },
    ],
  }
  const { groups, invalid, skipped } = mirroredGroups(endpoints)
  assert.deepEqual([invalid, skipped], [1, 0])
  const ports = [{ name: '', port: 80, protocol: 'TCP' }]
  assert.deepEqual(groups, [
    {
      addressType: 'IPv4',
      ports,
      endpoints: [
        { addresses: ['10.1.0.1'], conditions: { ready: true } },
        { addresses: ['10.1.0.2'], conditions: { ready: false }, hostname: 'h' },
      ],
    },
    {
      addressType: 'IPv6',
      ports,
      endpoints: [{ addresses: ['fd00::1'], conditions: { ready: true } }],
    },
  ])
  assert.deepEqual(mirrorMetadata(endpoints).annotations, { c: 'd' })
})
