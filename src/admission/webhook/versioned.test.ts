/**
 * Patches of webhooks and their way back into the request: built-in types, custom kinds, and bodies
 * of other kinds.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionRequest } from '#admission/admission.ts'
import { kindOf, requestOf, types } from '#admission/requests.suite.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { customResource } from '#kinds/custom.ts'
import { isUnread } from '#kinds/custom/unread.ts'
import type { Kind } from '#kinds/kind.ts'
import { applyJsonPatch } from '#patch/json-patch.ts'
import { podKind } from '#admission/requests.suite.ts'
import type { Struct, Type } from '#schema/type.ts'
import { copyIntoRequest, settled, Versioned } from './versioned.ts'

const mapKind = kindOf('v1', 'configmaps')
const scalerV1 = kindOf('autoscaling/v1', 'horizontalpodautoscalers')
const objectMeta = (mapKind.type as Struct).byName.get('metadata')?.type as Type

const version = (name: string, storage: boolean, properties: Loose) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties } },
    },
  },
  subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
})
const size = { size: { type: 'integer' }, colour: { type: 'string', default: 'red' } }
function gears(...versions: Loose[]): Kind {
  const names = { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' }
  const resource = customResource(
    {
      metadata: { name: 'gears.example.com', uid: 'u', generation: 1 },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions },
      status: {
        conditions: [{ type: 'Established', status: 'True' }],
        acceptedNames: names,
      },
    } as KubeObject,
    {
      root: '/registry',
      release: 22,
      feature: () => true,
      objectMeta,
      convertElsewhere: async () => [],
    } as never,
  )
  return resource.kinds.find((kind) => kind.version === 'v1') as Kind
}
const gearKind = gears(version('v1', true, size))
const twoKinds = gears(version('v1', true, size), version('v2', false, { size: size.size }))

const map = () => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'm' },
  data: { k: 'v' },
})
const gear = () => ({
  kind: 'Gear',
  apiVersion: 'example.com/v1',
  metadata: { name: 'g' },
  spec: { size: 1 },
})
const scale = () => ({
  kind: 'Scale',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'g' },
  spec: { replicas: 1 },
})
const token = () => ({
  kind: 'TokenRequest',
  apiVersion: 'authentication.k8s.io/v1',
  metadata: { name: 't' },
  spec: { expirationSeconds: 700 },
})
const exec = () => ({ kind: 'PodExecOptions', apiVersion: 'v1', command: ['ls'] })

const requests: Record<string, () => AdmissionRequest> = {
  map: () => requestOf('CREATE', mapKind, map()),
  gear: () => requestOf('CREATE', gearKind, gear()),
  gears: () => requestOf('CREATE', twoKinds, gear()),
  'gear scale': () => requestOf('UPDATE', gearKind, scale(), { subresource: 'scale' }),
  scale: () =>
    requestOf('UPDATE', kindOf('apps/v1', 'deployments'), scale(), { subresource: 'scale' }),
  token: () =>
    requestOf('CREATE', kindOf('v1', 'serviceaccounts'), token(), { subresource: 'token' }),
  exec: () => requestOf('CONNECT', podKind, exec(), { subresource: 'exec' }),
}

const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })
const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const remove = (path: string) => ({ op: 'remove', path })
const none = (kind: string, of: string) =>
  `no kind "${kind}" is registered for version "${of}" in scheme "pkg/runtime/scheme.go:100"`

/** Immediate errors are reported with their step; errors on the way back with their code. */
async function outcome(which: string, ...operations: Loose[]): Promise<unknown> {
  const request = requests[which]()
  const parts = { types, release: 22 }
  const versioned = await Versioned.of(request, request.kind, 22)
  try {
    const patched = applyJsonPatch(versioned.object as never, operations as never, 22) as Loose
    versioned.object = settled(parts, versioned, patched, operations as Json)
  } catch (error) {
    return `patch: ${(error as Error).message}`
  }
  try {
    await copyIntoRequest(parts, request, versioned)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return `${error.code} ${error.reason} ${error.message}`
  }
  return request.object
}

const unstructured = 'is unstructured and is not suitable for converting to "example.com/v1"'
const noText =
  "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"
const refusals: [which: string, operations: Loose[], expected: string | RegExp][] = [
  ['map', [replace('/kind', 'X')], `patch: ${none('X', 'v1')}`],
  ['map', [replace('/apiVersion', 'v2')], `patch: ${none('ConfigMap', 'v2')}`],
  ['map', [replace('/apiVersion', 'apps/v1')], `patch: ${none('ConfigMap', 'apps/v1')}`],
  ['map', [replace('/apiVersion', 'a/b/c')], 'patch: unexpected GroupVersion string: a/b/c'],
  ['map', [replace('/kind', 3)], `patch: ${noText}`],
  ['map', [replace('/kind', 'Secret')], /^patch: v1\.Secret.*decode base64: illegal base64 data/],
  ['map', [add('/data', 'x')], /^patch: v1\.ConfigMap\.Data: ReadMapCB: expect { or n/],
  [
    'map',
    [replace('/kind', 'Pod')],
    '500  converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  ],
  [
    'map',
    [replace('/kind', 'Lease'), replace('/apiVersion', 'coordination.k8s.io/v1')],
    '500  converting (v1.Lease) to (core.ConfigMap): unknown conversion',
  ],
  [
    'gear',
    [replace('/kind', 'X')],
    '422 Invalid X.example.com "g" is invalid: kind: Invalid value: "X": must be Gear',
  ],
  ['gear', [replace('/kind', 3)], `patch: ${noText}`],
  ['gear', [replace('/apiVersion', 'a/b/c')], 'patch: unexpected GroupVersion string: a/b/c'],
  ['gear', [remove('/kind')], /^patch: unmarshalerDecoder: Object 'Kind' is missing in '{"apiVer/],
  ['gear', [replace('/kind', '')], /^patch: unmarshalerDecoder: Object 'Kind' is missing in '/],
  ['gear', [replace('/apiVersion', 'x.y/v1')], `500  x.y/v1, Kind=Gear ${unstructured}`],
  ['gear', [replace('/apiVersion', 'v1')], `500  /v1, Kind=Gear ${unstructured}`],
  ['gear', [remove('/apiVersion')], `500  /, Kind=Gear ${unstructured}`],
  [
    'gear',
    [replace('/apiVersion', 'example.com/v2')],
    `500  example.com/v2, Kind=Gear ${unstructured}`,
  ],
  ['scale', [replace('/kind', 'X')], `patch: ${none('X', 'autoscaling/v1')}`],
  ['scale', [add('/spec', 'x')], /^patch: v1\.Scale\.Spec: readObjectStart: expect { or n/],
  [
    'scale',
    [replace('/kind', 'Pod'), replace('/apiVersion', 'v1'), remove('/spec')],
    '500  converting (v1.Pod) to (autoscaling.Scale): unknown conversion',
  ],
  ['gear scale', [replace('/kind', 'X')], `500  ${none('X', 'autoscaling/v1')}`],
  [
    'gear scale',
    [replace('/kind', 'Pod'), replace('/apiVersion', 'v1')],
    '500  converting (v1.Pod) to (v1.Scale): unknown conversion',
  ],
  [
    'gear scale',
    [remove('/apiVersion')],
    "500  Object 'apiVersion' is missing in 'unstructured object has no version'",
  ],
  ['gear scale', [remove('/kind')], /^patch: unmarshalerDecoder: Object 'Kind' is missing in '/],
  ['token', [replace('/kind', 'X')], `patch: ${none('X', 'authentication.k8s.io/v1')}`],
  ['token', [add('/metadata', 'x')], /^patch: v1\.TokenRequest\.ObjectMeta: readObjectStart: /],
  [
    'exec',
    [replace('/kind', 'Pod')],
    '500  converting (v1.Pod) to (core.PodExecOptions): unknown conversion',
  ],
]
for (const [which, operations, expected] of refusals) {
  test(`${which}: ${JSON.stringify(operations)} is refused`, async () => {
    const reported = String(await outcome(which, ...operations))
    if (typeof expected === 'string') assert.equal(reported, expected)
    else assert.match(reported, expected)
  })
}

const meta = { creationTimestamp: null }
const takenOver: [which: string, operations: Loose[], expected: Loose][] = [
  ['map', [remove('/kind')], { ...map(), metadata: { name: 'm', ...meta } }],
  ['map', [replace('/apiVersion', '')], { ...map(), metadata: { name: 'm', ...meta } }],
  [
    'map',
    [remove('/data')],
    { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', ...meta } },
  ],
  ['map', [add('/odd', 1)], { ...map(), metadata: { name: 'm', ...meta } }],
  [
    'gear',
    [add('/odd', 1), add('/spec', null)],
    { ...gear(), metadata: { name: 'g', ...meta }, odd: 1, spec: null },
  ],
  [
    'gear',
    [add('/metadata/labels', { a: 1 }), add('/metadata/annotations', { b: 'c' })],
    {
      ...gear(),
      metadata: { name: 'g', annotations: { b: 'c' }, ...meta },
      spec: { size: 1, colour: 'red' },
    },
  ],
  [
    'gears',
    [replace('/apiVersion', 'example.com/v2')],
    { ...gear(), metadata: { name: 'g', ...meta }, spec: { size: 1, colour: 'red' } },
  ],
  [
    'scale',
    [remove('/kind'), remove('/metadata'), add('/spec/replicas', 5), add('/odd', 1)],
    { ...scale(), metadata: meta, spec: { replicas: 5 }, status: { replicas: 0 } },
  ],
  [
    'gear scale',
    [add('/spec/replicas', 5)],
    {
      ...scale(),
      metadata: { name: 'g', ...meta },
      spec: { replicas: 5 },
      status: { replicas: 0 },
    },
  ],
  ['exec', [remove('/kind'), add('/command', ['w'])], { ...exec(), command: ['w'] }],
]
for (const [which, operations, expected] of takenOver) {
  test(`${which}: ${JSON.stringify(operations)} is taken over`, async () => {
    const made = (await outcome(which, ...operations)) as KubeObject
    assert.deepEqual(made, expected)
    // Unknown fields are pruned on the way to the store.
    assert.equal(isUnread(made), which.startsWith('gear') && which !== 'gear scale')
  })
}

for (const apiVersion of ['autoscaling/v2beta1', 'autoscaling/v2beta2']) {
  test(`${apiVersion} of the same kind is read as that, and becomes the one that is kept`, async () => {
    const { hub } = scalerV1.resource
    const { object: raw } = scalerV1.conform({
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    })
    const [object] = await scalerV1.resource.convert([raw], scalerV1, hub)
    const request = requestOf('CREATE', scalerV1, object)
    const versioned = await Versioned.of(request, scalerV1, 22)
    const patched = { ...versioned.object, apiVersion, odd: 1 } as Loose
    patched.spec = { ...patched.spec, maxReplicas: 9 }
    const parts = { types, release: 22 }
    versioned.object = settled(parts, versioned, patched, [])
    assert.deepEqual([versioned.object.apiVersion, versioned.object.odd], [apiVersion, undefined])
    await copyIntoRequest(parts, request, versioned)
    assert.equal(request.object?.spec.maxReplicas, 9)
  })
}

const owned = () => {
  const object = map() as KubeObject
  object.metadata.managedFields = [{ manager: 'm', operation: 'Update' }] as never
  return object
}
const one = owned()
const olds: [what: string, request: AdmissionRequest, shown: boolean][] = [
  ['an update', requestOf('UPDATE', mapKind, map(), { old: owned() }), false],
  [
    'an update that found it once more',
    requestOf('UPDATE', mapKind, map(), { old: owned(), showsOldOwners: true }),
    true,
  ],
  ['an update without changes', requestOf('UPDATE', mapKind, one, { old: one }), true],
  ['a deletion', requestOf('DELETE', mapKind, undefined, { old: owned() }), true],
]
for (const [what, request, shown] of olds) {
  test(`owners of what was there, in ${what}`, async () => {
    for (const [release, expected] of [
      [22, shown],
      [23, true],
    ] as const) {
      const { oldText } = await Versioned.of(request, mapKind, release)
      assert.equal(oldText.includes('managedFields'), expected, String(release))
    }
    assert.ok(request.old?.metadata.managedFields)
  })
}

test('a webhook gets the object in the version that it requires, and all of a patched object', async () => {
  const request = requestOf('CREATE', twoKinds, gear())
  const other = twoKinds.resource.kinds.find((kind) => kind.version === 'v2') as Kind
  const first = await Versioned.of(request, other, 22)
  assert.equal(first.object?.apiVersion, 'example.com/v2')
  assert.equal(request.object?.apiVersion, 'example.com/v1')
  assert.ok(!('creationTimestamp' in (first.object?.metadata ?? {})))
  first.object = { ...(first.object as KubeObject), odd: 1 }
  await copyIntoRequest({ types, release: 22 }, request, first)
  const second = await Versioned.of(request, other, 22)
  assert.deepEqual([second.object?.odd, second.object?.apiVersion], [1, 'example.com/v2'])
})
