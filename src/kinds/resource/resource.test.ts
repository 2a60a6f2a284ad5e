import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  linesOf,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { deviceClassBehaviour } from './device-class/behaviour.ts'
import { deviceDefaults } from './device-defaults.ts'
import { deviceTaintRuleBehaviour } from './device-taint-rule/behaviour.ts'
import { resourceClaimBehaviour } from './resource-claim/behaviour.ts'
import { resourceClaimColumns } from './resource-claim/columns.ts'
import { resourceClaimTemplateBehaviour } from './resource-claim-template/behaviour.ts'
import { resourceSliceBehaviour } from './resource-slice/behaviour.ts'

const context = contextFor({ release: 37 }, [
  'DRAConsumableCapacity',
  'DRAExtendedResource',
  'DRAPartitionableDevices',
])
const selecting = (expression: string) => named({ spec: { selectors: [{ cel: { expression } }] } })
const wrong = (text: string, detail: string) =>
  `spec.selectors[0].cel.expression: Invalid value: "${text}": ${detail}`
const ok: [string, ReturnType<typeof named>, string[], typeof context][] = [
  'device.driver == "a.b"',
  'device.attributes["a.b"].model == "x"',
  'device.attributes["a.b"].healthy',
  'device.capacity["a.b"].memory.isGreaterThan(quantity("1Gi"))',
  'device.allowMultipleAllocations',
  'cel.bind(a, device.attributes["a.b"], a.healthy || a.model == "x")',
].map((text) => [text, selecting(text), [], context])
checkCreate(deviceClassBehaviour, [
  ...ok,
  [
    'an unknown variable',
    selecting('x'),
    [
      wrong(
        'x',
        "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^",
      ),
    ],
    context,
  ],
  [
    'a bound variable that is not a name',
    selecting('cel.bind(1, 2, true)'),
    [
      wrong(
        'cel.bind(1, 2, true)',
        'compilation failed: ERROR: <input>:1:10: cel.bind() variable names must be simple identifiers\n | cel.bind(1, 2, true)\n | .........^',
      ),
    ],
    context,
  ],
  [
    'a result that selects nothing',
    selecting('1'),
    [wrong('1', 'must evaluate to bool or the unknown type, not int')],
    context,
  ],
  [
    'a selection that costs too much',
    selecting(
      `device.attributes.all(a, ${'device.attributes.all(b, '.repeat(4)}a == b${')'.repeat(5)}`,
    ),
    ['spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit'],
    context,
  ],
  [
    'parameters',
    named({
      spec: {
        config: [{}, { opaque: { driver: 'a.b' } }, { opaque: { driver: '', parameters: [] } }],
      },
    }),
    [
      'spec.config[0].opaque: Required value',
      'spec.config[1].opaque.parameters: Required value',
      'spec.config[2].opaque.driver: Required value',
      "spec.config[2].opaque.driver: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      'spec.config[2].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ],
    context,
  ],
])
checkUpdate(deviceClassBehaviour, [
  ['a selector that was stored is not compiled again', selecting('x'), selecting('x'), [], context],
])

const asking = (devices: Loose) => inDefault({ spec: { devices } })
const exactly = { deviceClassName: 'a', allocationMode: 'ExactCount', count: 1 }
const reference =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
checkCreate(resourceClaimBehaviour, [
  ['a request', asking({ requests: [{ name: 'a', exactly }] }), [], context],
  [
    'requests of no kind and of both',
    asking({
      requests: [
        { name: 'a' },
        { name: 'b', exactly, firstAvailable: [{ name: 'c', ...exactly }] },
      ],
    }),
    [
      'spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
      'spec.devices.requests[1]: Invalid value: "null": exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
    ],
    context,
  ],
  [
    'counts',
    asking({
      requests: [
        { name: 'a', exactly: { ...exactly, count: 0 } },
        { name: 'b', exactly: { ...exactly, allocationMode: 'All' } },
      ],
    }),
    [
      'spec.devices.requests[0].exactly.count: Invalid value: 0: must be greater than zero',
      "spec.devices.requests[1].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'",
    ],
    context,
  ],
  [
    'references to requests',
    asking({
      requests: [{ name: 'a', firstAvailable: [{ name: 'b', ...exactly }] }],
      constraints: [{ requests: ['a', 'a/b', 'a/c', 'd'], matchAttribute: 'x.y/z' }],
    }),
    [
      `spec.devices.constraints[0].requests[2]: Invalid value: "a/c": ${reference}`,
      `spec.devices.constraints[0].requests[3]: Invalid value: "d": ${reference}`,
    ],
    context,
  ],
])
checkUpdate(resourceClaimBehaviour, [
  [
    'a claim stays',
    asking({ requests: [{ name: 'a', exactly }] }),
    asking({}),
    [
      'spec: Invalid value: map[string]interface {}{"devices":map[string]interface {}{}}: field is immutable',
    ],
    context,
  ],
])
checkCreate(resourceClaimTemplateBehaviour, [
  [
    'names are for the claims',
    inDefault({ spec: { metadata: { name: 'a' }, spec: { devices: {} } } }),
    ['spec.metadata.name: Forbidden: cannot be set'],
    context,
  ],
])

test('a reserved claim must be allocated', () => {
  const status = { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] }
  const claim = inDefault({ status })
  const errors = resourceClaimBehaviour.subresources?.status?.validateUpdate?.(
    claim,
    claim,
    context,
  )
  assert.deepEqual(linesOf(errors ?? []), [
    'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
  ])
  const states = [{}, { allocation: {} }, { allocation: {}, ...status }]
  assert.deepEqual(
    states.map((one) => resourceClaimColumns.cells(inDefault({ status: one }), 0)[1]),
    ['pending', 'allocated', 'allocated,reserved'],
  )
})

const taint = (effect: string) =>
  named({ spec: { taint: { key: 'a', effect, timeAdded: 'then' } } })
test('a changed effect of a taint gets a new time', () => {
  const next = taint('NoExecute')
  const old = taint('NoSchedule')
  deviceTaintRuleBehaviour.prepareForUpdate?.(next, old, context)
  assert.equal(next.spec.taint.timeAdded, context.now)
  assert.equal(next.metadata.generation, 1)
})
checkCreate(deviceTaintRuleBehaviour, [
  [
    'an effect',
    taint('x'),
    [
      'spec.taint.effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"',
    ],
    context,
  ],
])

const slice = (more: Loose) =>
  named({ spec: { driver: 'a.b', pool: { name: 'p', resourceSliceCount: 1 }, ...more } })
const device = { name: 'd', attributes: { 'x.y/z': { int: 1 } } }
checkCreate(resourceSliceBehaviour, [
  ['devices of a node', slice({ nodeName: 'n', devices: [device] }), [], context],
  [
    'devices of no place and of two',
    slice({
      devices: [
        { ...device, allNodes: true },
        { ...device, name: 'e' },
      ],
    }),
    [
      'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
      'spec.devices[0]: Invalid value: "null": `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
    ],
    context,
  ],
  [
    'a long name of an attribute, without its middle in the path',
    slice({
      allNodes: true,
      devices: [{ name: 'd', attributes: { ['a'.repeat(50) + 'b'.repeat(50)]: {} } }],
    }),
    [
      'spec.devices[0].attributes: Too long: may not be more than 32 bytes',
      `spec.devices[0].attributes[${'a'.repeat(47)}...${'b'.repeat(46)}]: Invalid value: "": exactly one value must be specified`,
    ],
    context,
  ],
  [
    'attributes',
    slice({
      allNodes: true,
      devices: [{ name: 'd', attributes: { '1': { version: '1' }, a: { int: 1, bool: true } } }],
    }),
    [
      "spec.devices[0].attributes: Invalid value: \"1\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
      'spec.devices[0].attributes[1].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
      'spec.devices[0].attributes[a]: Invalid value: map[string]interface {}{"bool":true, "int":1}: exactly one value must be specified',
    ],
    context,
  ],
])

test('fields of disabled features are dropped, unless they were used', () => {
  const made = slice({ devices: [{ ...device, attributes: { a: { ints: [1] } } }] })
  resourceSliceBehaviour.prepareForCreate?.(made, context)
  assert.deepEqual(made.spec.devices[0].attributes, { a: {} })
  const old = slice({ devices: [{ ...device, attributes: { a: { ints: [1] } } }] })
  const next = structuredClone(old)
  resourceSliceBehaviour.prepareForUpdate?.(next, old, context)
  assert.deepEqual(next.spec, old.spec)
  const claim = asking({ requests: [{ name: 'a', exactly: { ...exactly, adminAccess: true } }] })
  resourceClaimBehaviour.prepareForCreate?.(claim, context)
  assert.equal(claim.spec.devices.requests[0].exactly.adminAccess, undefined)
})

/** Errors beside a namespace with labels; undefined if the namespace is not read. */
type Check = ReturnType<NonNullable<typeof resourceClaimBehaviour.namespaceRule>>
const linesIn = (check: Check, labels?: Record<string, string>) =>
  check && linesOf(check(labels && named({}, { labels })))
const needed = (at: string, label: string) =>
  `${at}.adminAccess: Forbidden: admin access to devices requires the \`${label}: true\` label on the containing namespace`
const admin = { name: 'a', exactly: { ...exactly, adminAccess: true } }
const result = { driver: 'a.b', pool: 'p', device: 'd', request: 'a', adminAccess: true }
const older = 'resource.k8s.io/admin-access'
const label = 'resource.kubernetes.io/admin-access'

for (const [release, wanted] of [
  [32, undefined],
  [33, older],
  [34, label],
  [37, label],
] as const)
  test(`1.${release}: admin access needs the label ${wanted}`, () => {
    const context = contextFor({ release })
    const claim = asking({ requests: [{ name: 'b', exactly }, admin] })
    const template = { ...claim, spec: { spec: claim.spec } }
    const granted = { ...claim, status: { allocation: { devices: { results: [result] } } } }
    const checks: [string, Check][] = [
      [
        'spec.devices.requests[1]',
        resourceClaimBehaviour.namespaceRule?.(claim, undefined, context),
      ],
      [
        'spec.devices.requests[1]',
        resourceClaimTemplateBehaviour.namespaceRule?.(template, undefined, context),
      ],
      [
        'status.allocation.devices.results[0]',
        resourceClaimBehaviour.subresources?.status?.namespaceRule?.(granted, claim, context),
      ],
    ]
    for (const [at, check] of checks) {
      if (wanted === undefined) assert.equal(check, undefined)
      else {
        assert.deepEqual(linesIn(check, { [wanted]: 'true' }), [])
        const other = wanted === label ? older : label
        assert.deepEqual(linesIn(check, { [other]: 'true' }), [needed(at, wanted)])
        assert.deepEqual(linesIn(check, { [wanted]: 'yes' }), [needed(at, wanted)])
        assert.deepEqual(linesIn(check), [
          `${at}.adminAccess: Internal error: could not retrieve namespace to verify admin access: namespaces "default" not found`,
        ])
      }
    }
    const plain = asking({ requests: [{ name: 'b', exactly }] })
    assert.equal(resourceClaimBehaviour.namespaceRule?.(plain, undefined, context), undefined)
    const status = resourceClaimBehaviour.subresources?.status
    assert.equal(status?.namespaceRule?.(granted, granted, context), undefined)
  })

test('a request without a count requests one device', () => {
  const value: Loose = {}
  const defaults = { release: 37, feature: () => true, time: () => 'now' }
  deviceDefaults['io.k8s.api.resource.v1.ExactDeviceRequest']?.(value, defaults)
  assert.deepEqual(value, { allocationMode: 'ExactCount', count: 1 })
  const added: Loose = {}
  deviceDefaults['io.k8s.api.resource.v1.DeviceTaint']?.(added, defaults)
  assert.equal(added.timeAdded, 'now')
})

checkBoundaries<Loose, unknown>(
  (release, request) => {
    const defaults = { release, feature: () => true }
    deviceDefaults['io.k8s.api.resource.v1beta1.DeviceRequest']?.(request, defaults)
    return request
  },
  [
    [
      'a request without a class gets a mode and a count',
      [32, 33],
      { name: 'a' },
      { name: 'a', allocationMode: 'ExactCount', count: 1 },
      { name: 'a' },
    ],
  ],
)
checkBoundaries<Loose, string[]>(
  (release, request) =>
    linesOf(
      resourceClaimBehaviour.validateCreate?.(
        asking({ requests: [request] }),
        contextFor({ release }),
      ) ?? [],
    ),
  [
    [
      'paths of errors in a request',
      [32, 33],
      { name: 'a', exactly: { ...exactly, count: -1 } },
      ['spec.devices.requests[0].count: Invalid value: -1: must be greater than zero'],
      ['spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero'],
    ],
  ],
)

test('the status of a claim is about its requests and its devices', () => {
  const old = asking({ requests: [{ name: 'a', exactly }] })
  const device = { driver: 'a.b', pool: 'p', device: 'd' }
  const result = { ...device, request: 'b', bindingConditions: ['c'] }
  const status = {
    allocation: { devices: { results: [result] } },
    devices: [device, { ...device, device: 'e', networkData: { ips: ['10.0.0.1'] } }],
  }
  const errors = resourceClaimBehaviour.subresources?.status?.validateUpdate?.(
    { ...old, status },
    old,
    context,
  )
  assert.deepEqual(linesOf(errors ?? []), [
    'status.devices[1]: Invalid value: internal.SharedDeviceID{Driver:"a.b", Pool:"p", Device:"e", ShareID:""}: must be an allocated device in the claim',
    'status.devices[1].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
    'status.allocation.devices.results[0].request: Invalid value: "b": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
    'status.allocation.devices.results[0].bindingFailureConditions: Invalid value: "null": bindingFailureConditions are required to use bindingConditions',
  ])
})

for (const [gates, used, expected] of [
  [[], undefined, undefined],
  [[], ['a'], ['a']],
  [['DRAOptionalNodeOperations'], undefined, ['a']],
] as const)
  test(`skipped operations of a node: ${gates}, before ${used}`, () => {
    const allocated = (skipNodeOperations?: readonly string[]) =>
      inDefault({ status: { allocation: { devices: { results: [{ skipNodeOperations }] } } } })
    const { prepareForUpdate } = resourceClaimBehaviour.subresources?.['status'] ?? {}
    const next = allocated(['a'])
    prepareForUpdate?.(next, allocated(used), contextFor({ release: 37 }, [...gates]))
    const [result] = next.status.allocation.devices.results
    assert.deepEqual(result.skipNodeOperations, expected)
  })
