import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCreate, contextFor, inDefault } from '#kinds/all-kinds/behaviour.suite.ts'
import { endpointSliceBehaviour } from '#kinds/discovery/endpoint-slice/behaviour.ts'
import { endpointsBehaviour } from './behaviour.ts'

const subset = (...ips: string[]) =>
  inDefault({ subsets: [{ addresses: ips.map((ip) => ({ ip })) }] })
const special = (i: number, ip: string, detail: string) =>
  `subsets[0].addresses[${i}].ip: Invalid value: "${ip}": ${detail}`
checkCreate(endpointsBehaviour, [
  ['addresses that can be reached', subset('10.0.0.1', 'fd00::1'), []],
  [
    'and others',
    subset('0.0.0.0', '127.0.0.1', '169.254.1.1', '224.0.0.5', 'fe80::1', '::1'),
    [
      special(0, '0.0.0.0', 'may not be unspecified (0.0.0.0)'),
      special(1, '127.0.0.1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'),
      special(2, '169.254.1.1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'),
      special(
        3,
        '224.0.0.5',
        'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
      ),
      special(4, 'fe80::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'),
      special(5, '::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'),
    ],
  ],
  [
    'some address',
    inDefault({ subsets: [{}] }),
    ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
  ],
])

const slice = (fields: object) => inDefault({ addressType: 'IPv4', ...fields })
checkCreate(endpointSliceBehaviour, [
  ['addresses of one type', slice({ endpoints: [{ addresses: ['10.0.0.1'] }] }), []],
  [
    'and of that type',
    slice({ endpoints: [{ addresses: ['fd00::1'] }] }),
    ['endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address'],
  ],
  [
    'names of ports are different',
    slice({
      ports: [
        { name: '', protocol: 'TCP' },
        { name: '', protocol: '' },
      ],
    }),
    [
      'ports[1].name: Duplicate value: ""',
      'ports[1].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"',
    ],
  ],
  [
    'hints are few and different',
    slice({
      endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'a' }, { name: 'a' }] } }],
    }),
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
  ],
])

const topology = { 'kubernetes.io/hostname': 'n', x: 'y' }
const withTopology = () =>
  slice({ endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { ...topology } }] })

test('only v1beta1 can write the topology', () => {
  const stable = withTopology()
  endpointSliceBehaviour.prepareForCreate?.(
    stable,
    contextFor({ requestApiVersion: 'discovery.k8s.io/v1' }),
  )
  assert.deepEqual(stable.endpoints, [{ addresses: ['10.0.0.1'] }])
  assert.equal(stable.metadata.generation, 1)
  const beta = withTopology()
  const context = contextFor({ requestApiVersion: 'discovery.k8s.io/v1beta1' })
  endpointSliceBehaviour.prepareForCreate?.(beta, context)
  assert.deepEqual(beta.endpoints[0].deprecatedTopology, topology)
})

test('the host name in a removed topology becomes the node name', () => {
  const next = withTopology()
  next.endpoints[0].addresses = ['10.0.0.2']
  const context = contextFor({ requestApiVersion: 'discovery.k8s.io/v1' })
  endpointSliceBehaviour.prepareForUpdate?.(next, withTopology(), context)
  assert.deepEqual(next.endpoints, [{ addresses: ['10.0.0.2'], nodeName: 'n' }])
})

test('labels are part of the content', () => {
  const old = slice({}) as ReturnType<typeof inDefault>
  old.metadata.generation = 3
  const next = slice({})
  next.metadata.labels = { a: 'b' }
  endpointSliceBehaviour.prepareForUpdate?.(next, old, contextFor())
  assert.equal(next.metadata.generation, 4)
})

test('problems of changed endpoints were reported twice', () => {
  const old = inDefault({ subsets: [] })
  const next = inDefault({ subsets: [{}] })
  const fields = (release: number) => {
    const context = { ...contextFor(), release }
    return endpointsBehaviour.validateUpdate?.(next, old, context).map(({ field }) => field)
  }
  assert.deepEqual(fields(17), ['subsets[0]', 'subsets[0]'])
  assert.deepEqual(fields(18), ['subsets[0]'])
  assert.deepEqual(fields(22), ['subsets[0]'])
})

test('the metadata of changed endpoints is validated as an update and as a whole', () => {
  const old = inDefault({ subsets: [] })
  const next = { ...old, metadata: { ...old.metadata, annotations: { 'a b': '' } } }
  const count = (release: number) =>
    endpointsBehaviour.validateUpdate?.(next, old, { ...contextFor(), release }).length
  assert.deepEqual([17, 18, 19, 20, 21, 22].map(count), [2, 2, 2, 2, 2, 2])
})

test('conditions about terminating endpoints need their feature gate', () => {
  const conditions = { ready: true, serving: true, terminating: false }
  const made = (features: string[], old?: object) => {
    const next = slice({ endpoints: [{ addresses: ['10.0.0.1'], conditions: { ...conditions } }] })
    const context = contextFor({ requestApiVersion: 'discovery.k8s.io/v1' }, features)
    if (old === undefined) endpointSliceBehaviour.prepareForCreate?.(next, context)
    else {
      const before = slice({ endpoints: [{ addresses: ['10.0.0.1'], conditions: old }] })
      endpointSliceBehaviour.prepareForUpdate?.(next, before, context)
    }
    return next.endpoints[0].conditions
  }
  assert.deepEqual(made([]), { ready: true })
  assert.deepEqual(made(['EndpointSliceTerminatingCondition']), conditions)
  assert.deepEqual(made([], { ready: true }), { ready: true })
  assert.deepEqual(made([], { serving: false }), conditions)
})
