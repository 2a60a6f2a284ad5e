/**
 * Answers of the releases between the recorded ones: rules that changed from 1.16 to 1.20, each
 * tested in the releases before and after its change. The last answer of a row counts, at one place
 * of it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ReleaseServers } from './release-servers.fixture.ts'
import type { Answer } from './running-server.ts'

const servers = new ReleaseServers()
after(() => servers.stop())

type Step = [method: string, path: string, body?: object, type?: string]

interface Row {
  readonly says: string
  readonly steps: readonly Step[]
  /** Where to look in the last answer, `status` being its number. */
  readonly at: string
  readonly expected: Readonly<Record<number, unknown>>
}

const inDefault = '/api/v1/namespaces/default'
const container = { name: 'c', image: 'i' }
const applied = 'application/apply-patch+yaml'
const lease = (name: string, spec: object): [string, string, object, string] => [
  'PATCH',
  `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}?fieldManager=one`,
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec },
  applied,
]
const account = (name: string, changes: object) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name },
  ...changes,
})
const applyAccount = (name: string, changes: object, query: string): Step => [
  'PATCH',
  `${inDefault}/serviceaccounts/${name}?${query}`,
  account(name, changes),
  applied,
]
const omits = (i: number) =>
  `.secrets: element ${i}: associative list with keys has an element that omits key field "name"`
const kinds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const define = (group: string, spec: object): Step => [
  'POST',
  kinds,
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  },
]
const applyGear = (group: string, spec: object): Step => [
  'PATCH',
  `/apis/${group}/v1/gears/g?fieldManager=one`,
  { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'g' }, spec },
  applied,
]
const gear = (group: string, spec: object): Step => [
  'POST',
  `/apis/${group}/v1/gears`,
  { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'g' }, spec },
]
const listOf = (more: object) => ({
  type: 'object',
  properties: {
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    other: more,
  },
})
const setOwned = { 'f:set': { 'v:"a"': {} } }
const noted = (data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'noted' },
  data,
})
const slices = '/apis/discovery.k8s.io/v1beta1/namespaces/default/endpointslices'
const endpoint = { addresses: ['10.1.2.3'] }
const drivers = '/apis/storage.k8s.io/v1/csidrivers'
const merge = 'application/merge-patch+json'
const unnamed = 'associative list with keys has an element that omits key field'
const podNamed = (name: string) => ({ metadata: { name }, spec: { containers: [container] } })

const rows: Row[] = [
  {
    says: 'who creates an object owns the status that the create resets',
    steps: [
      [
        'POST',
        `${inDefault}/pods`,
        {
          metadata: { name: 'p' },
          spec: { containers: [container] },
          status: { phase: 'Unknown' },
        },
      ],
    ],
    at: 'metadata.managedFields.0.fieldsV1.f:status',
    expected: { 18: { 'f:phase': {} }, 20: { 'f:phase': {} }, 21: undefined },
  },
  {
    says: 'a field that its applier leaves out is removed',
    steps: [
      lease('l', { holderIdentity: 'a', leaseDurationSeconds: 5 }),
      lease('l', { leaseDurationSeconds: 5 }),
    ],
    at: 'spec.holderIdentity',
    expected: { 16: 'a', 17: 'a', 18: undefined },
  },
  {
    says: 'before-first-apply owns the fields of a new object',
    steps: [
      [
        'PATCH',
        '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets/b?fieldManager=one',
        {
          apiVersion: 'policy/v1beta1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'b' },
          spec: { maxUnavailable: 1 },
        },
        applied,
      ],
    ],
    at: 'metadata.managedFields.1.manager',
    expected: { 16: 'before-first-apply', 17: undefined },
  },
  {
    says: 'an empty field is owned',
    steps: [applyAccount('empty', { metadata: { name: 'empty', labels: {} } }, 'fieldManager=one')],
    at: 'metadata.managedFields.0.fieldsV1.f:metadata',
    expected: { 17: undefined, 18: { 'f:labels': {} } },
  },
  {
    says: 'values of another type are shown in Go syntax',
    steps: [applyAccount('typed', { secrets: 'a' }, 'fieldManager=one')],
    at: 'message',
    expected: {
      17: 'failed to create typed patch object: .secrets: expected list, got "a"',
      18: 'failed to create typed patch object: .secrets: expected list, got &{a}',
    },
  },
  {
    says: 'a value that is not a number is reported with its type',
    steps: [lease('typed', { leaseDurationSeconds: 'a' })],
    at: 'message',
    expected: {
      17: 'failed to create typed patch object: .spec.leaseDurationSeconds: expected numeric (int or float), got "a"',
      18: 'failed to create typed patch object: .spec.leaseDurationSeconds: expected numeric (int or float), got *value.valueUnstructured',
      19: 'failed to create typed patch object: .spec.leaseDurationSeconds: expected numeric (int or float), got string',
    },
  },
  {
    says: 'numbers are shown as texts have them',
    steps: [applyAccount('numbered', { secrets: 1234567 }, 'fieldManager=one')],
    at: 'message',
    expected: {
      17: 'failed to create typed patch object: .secrets: expected list, got 1.234567e+06',
      18: 'failed to create typed patch object: .secrets: expected list, got &{1234567}',
    },
  },
  {
    says: 'large numbers are shown as texts have them',
    steps: [applyAccount('large', { secrets: 8071137005907524000 }, 'fieldManager=one')],
    at: 'message',
    expected: {
      17: 'failed to create typed patch object: .secrets: expected list, got 8.071137005907524e+18',
    },
  },
  {
    says: 'of items without their key the first is reported, and that the key has no default',
    steps: [applyAccount('keyless', { secrets: [{ kind: 'a' }, {}] }, 'fieldManager=one')],
    at: 'message',
    expected: {
      17: `failed to create typed patch object: errors:\n  ${omits(0)}\n  ${omits(1)}`,
      18: `failed to create typed patch object: ${omits(0)}`,
      19: `failed to create typed patch object: ${omits(0)} (and doesn't have default value)`,
    },
  },
  {
    says: 'items come in the order of the configuration',
    steps: [
      ['POST', `${inDefault}/serviceaccounts`, account('order', { secrets: [{ name: 'a' }] })],
      applyAccount(
        'order',
        { secrets: [{ name: 'b' }, { name: 'a' }] },
        'fieldManager=one&force=true',
      ),
    ],
    at: 'secrets.0.name',
    expected: { 16: 'a', 20: 'a', 21: 'b' },
  },
  {
    says: 'who applies with kubectl takes over what it noted',
    steps: [
      [
        'POST',
        `${inDefault}/configmaps?fieldManager=kubectl-client-side-apply`,
        {
          ...noted({ a: '1' }),
          metadata: {
            name: 'noted',
            annotations: {
              'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(noted({ a: '1' })),
            },
          },
        },
      ],
      ['PATCH', `${inDefault}/configmaps/noted?fieldManager=kubectl`, noted({ a: '2' }), applied],
    ],
    at: 'status',
    expected: { 18: 409, 19: 200 },
  },
  {
    says: 'a kind with something that may be null has a type to apply by',
    steps: [
      define('null.example.com', listOf({ type: 'string', nullable: true })),
      applyGear('null.example.com', { set: ['a'] }),
    ],
    at: 'metadata.managedFields.0.fieldsV1.f:spec',
    expected: { 16: { '.': {}, 'f:set': {} }, 17: setOwned },
  },
  {
    says: 'a kind with a number that may be a text has a type to apply by',
    steps: [
      define('either.example.com', listOf({ 'x-kubernetes-int-or-string': true })),
      applyGear('either.example.com', { set: ['a'] }),
    ],
    at: 'metadata.managedFields.0.fieldsV1.f:spec',
    expected: { 16: { '.': {}, 'f:set': {} }, 20: { '.': {}, 'f:set': {} }, 21: setOwned },
  },
  {
    says: 'a set of a custom object has each item once',
    steps: [
      define('set.example.com', listOf({ type: 'string' })),
      gear('set.example.com', { set: ['a', 'a'] }),
    ],
    at: 'status',
    expected: { 17: 201, 18: 422 },
  },
  {
    says: 'labels of slices make no generation',
    steps: [
      [
        'POST',
        slices,
        { metadata: { name: 'counted' }, addressType: 'IPv4', endpoints: [endpoint] },
      ],
      ['PATCH', `${slices}/counted`, { metadata: { labels: { a: 'b' } } }, merge],
    ],
    at: 'metadata.generation',
    expected: { 19: 1, 20: 1, 21: 2 },
  },
  {
    says: 'the zone of an endpoint is a label of its topology',
    steps: [
      [
        'POST',
        slices,
        {
          metadata: { name: 'placed' },
          addressType: 'IPv4',
          endpoints: [{ ...endpoint, topology: { 'topology.kubernetes.io/zone': 'not right' } }],
        },
      ],
    ],
    at: 'details.causes.0.field',
    expected: { 19: 'endpoints[0].topology', 20: 'endpoints[0].topology', 21: undefined },
  },
  {
    says: 'the second address of a pod stays, whatever families the cluster has',
    steps: [
      [
        'POST',
        `${inDefault}/pods`,
        { metadata: { name: 'two' }, spec: { containers: [container] } },
      ],
      [
        'PATCH',
        `${inDefault}/pods/two/status`,
        { status: { podIPs: [{ ip: '10.1.1.1' }, { ip: 'fd00::1' }] } },
        merge,
      ],
    ],
    at: 'status.podIPs.1.ip',
    expected: { 18: 'fd00::1', 20: 'fd00::1', 22: 'fd00::1' },
  },
  {
    says: 'a storage driver keeps its spec',
    steps: [
      ['POST', drivers, { metadata: { name: 'd' }, spec: {} }],
      ['PATCH', `${drivers}/d`, { spec: { attachRequired: false } }, merge],
    ],
    at: 'details.causes.0.field',
    expected: { 19: 'spec', 20: 'spec', 21: 'spec.attachedRequired' },
  },
  {
    says: 'quantities are applied as strings',
    steps: [
      [
        'PATCH',
        `${inDefault}/pods/applied?fieldManager=a`,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'applied' },
          spec: { containers: [{ ...container, resources: { limits: { cpu: 1 } } }] },
        },
        applied,
      ],
    ],
    at: 'message',
    expected: {
      20: 'failed to create typed patch object: .spec.containers[name="c"].resources.limits.cpu: expected string, got &value.valueUnstructured{Value:1}',
      21: undefined,
    },
  },
  {
    says: 'what a keyed list is keyed by has no default',
    steps: [
      [
        'PATCH',
        `${inDefault}/pods/unnamed?fieldManager=a`,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'unnamed' },
          spec: { containers: [{ image: 'i' }] },
        },
        applied,
      ],
    ],
    at: 'message',
    expected: {
      19: `failed to create typed patch object: .spec.containers: element 0: ${unnamed} "name" (and doesn't have default value)`,
      20: 'Pod "unnamed" is invalid: spec.containers[0].name: Required value',
    },
  },
  {
    says: 'an unspecified stabilization window is stored',
    steps: [
      [
        'POST',
        '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers',
        {
          metadata: { name: 'scaled' },
          spec: {
            maxReplicas: 2,
            scaleTargetRef: { kind: 'Deployment', name: 'd' },
            behavior: { scaleDown: { selectPolicy: 'Min' } },
          },
        },
      ],
    ],
    at: 'spec.behavior.scaleDown.stabilizationWindowSeconds',
    expected: { 18: null, 19: null, 20: undefined },
  },
  {
    says: 'addresses of pods are looked at where the status is written',
    steps: [
      ['POST', `${inDefault}/pods`, podNamed('addressed')],
      ['PATCH', `${inDefault}/pods/addressed/status`, { status: { podIP: 'a' } }, merge],
    ],
    at: 'status',
    expected: { 15: 200, 16: 200, 18: 200, 19: 422, 22: 422 },
  },
  {
    says: '… and before, where anything else is',
    steps: [
      ['POST', `${inDefault}/pods`, podNamed('addressed')],
      ['PATCH', `${inDefault}/pods/addressed/status`, { status: { podIP: 'a' } }, merge],
      ['PATCH', `${inDefault}/pods/addressed`, { metadata: { annotations: { a: 'b' } } }, merge],
    ],
    at: 'status',
    expected: { 15: 200, 16: 422, 18: 422, 19: 200 },
  },
  {
    says: 'errors name the group that the kinds of networking come from',
    steps: [['POST', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', {}]],
    at: 'details.group',
    expected: { 15: 'networking.k8s.io', 17: 'networking.k8s.io', 18: 'extensions' },
  },
  {
    says: 'a version in the future is reported in a cause, which has a reason later',
    steps: [['GET', `${inDefault}/pods?resourceVersion=999999999`]],
    at: 'details.causes',
    expected: {
      16: undefined,
      17: [{ message: 'Too large resource version' }],
      18: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    },
  },
  {
    says: 'an apply to the status of what is not there is read before it is missed',
    steps: [
      [
        'PATCH',
        `${inDefault}/pods/missing/status?fieldManager=m`,
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'missing' }, status: 1.5 },
        applied,
      ],
    ],
    at: 'status',
    expected: { 16: 500, 18: 500, 19: 404 },
  },
  {
    says: 'a null that is not allowed takes the default',
    steps: [
      define('default.example.com', {
        type: 'object',
        properties: { a: { type: 'string', default: 'b' } },
      }),
      gear('default.example.com', { a: null }),
    ],
    at: 'status',
    expected: { 16: 422, 19: 422, 20: 201 },
  },
  {
    says: 'formats of numbers are not checked',
    steps: [
      define('format.example.com', {
        type: 'object',
        properties: { a: { type: 'integer', format: 'int64' } },
      }),
      gear('format.example.com', { a: 1.5 }),
    ],
    at: 'details.causes.0.message',
    expected: {
      16: 'Invalid value: "float64": spec.a in body must be of type int64: "float64"',
      17: 'Invalid value: "number": spec.a in body must be of type integer: "number"',
    },
  },
  {
    says: 'a Scale of the newest version does not fit the oldest',
    steps: [
      [
        'PUT',
        '/apis/extensions/v1beta1/namespaces/default/deployments/d/scale',
        { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: {} },
      ],
    ],
    at: 'message',
    expected: {
      15: 'the API version in the data (autoscaling/v1) does not match the expected API version (extensions/v1beta1)',
    },
  },
  {
    says: '… and one of its own does',
    steps: [
      [
        'PUT',
        '/apis/extensions/v1beta1/namespaces/default/deployments/d/scale',
        { apiVersion: 'extensions/v1beta1', kind: 'Scale', metadata: { name: 'd' }, spec: {} },
      ],
    ],
    at: 'status',
    expected: { 15: 404 },
  },
]

const valueAt = (answer: Answer, place: string): unknown =>
  place === 'status'
    ? answer.status
    : place
        .split('.')
        .reduce<unknown>(
          (value, step) => (value as Record<string, unknown> | undefined)?.[step],
          answer.body,
        )

for (const { says, steps, at, expected } of rows)
  for (const [release, value] of Object.entries(expected))
    test(`1.${release}: ${says}`, async () => {
      const server = await servers.of(Number(release))
      let answer: Answer | undefined
      for (const [method, path, body, type] of steps)
        answer = await server.ask(method, path, body, type ? { 'content-type': type } : undefined)
      assert.deepEqual(valueAt(answer as Answer, at), value, answer?.text)
    })
