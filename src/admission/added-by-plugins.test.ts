/** What plugins that never reject add to new objects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { AdmissionPlugin } from './admission.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'
import * as storage from './storage-defaults.ts'
import { taintNodesByCondition } from './taint-nodes.ts'

const release = releaseOf(22)
const defaultStorageClass = storage.defaultStorageClass(release)
const storageObjectInUseProtection = storage.storageObjectInUseProtection(release, () => true)

const stays = (key: string) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
})
const [notReady, unreachable] = [stays('not-ready'), stays('unreachable')]
const exists = (key: string, effect?: string) => ({
  key,
  operator: 'Exists',
  ...(effect && { effect }),
})
const tolerating = (...tolerations: Loose[]) => pod({ tolerations })
const asking = (...names: string[]) => ({
  name: 'c',
  resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) },
})
const gpu = exists('example.com/gpu', 'NoSchedule')
const tolerations = ({ spec }: Loose) => spec.tolerations

const nodeKind = kindOf('v1', 'nodes')
const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
const node = (...taints: Loose[]) => ({ metadata: { name: 'n' }, spec: { taints } })

const claimKind = kindOf('v1', 'persistentvolumeclaims')
const claim = (spec: Loose = {}, metadata: Loose = {}) => ({
  metadata: { name: 'c', ...metadata },
  spec,
})
const storageClass = ({ spec }: Loose) => spec.storageClassName
const classes = (...annotated: string[]) => {
  const reader = new MemoryReader()
  for (const [i, annotation] of ['none', ...annotated].entries())
    reader.put('storage.k8s.io', 'storageclasses', {
      metadata: { name: `class${i}`, annotations: { [annotation]: 'true' } },
    })
  return reader
}
const [isDefault, wasDefault] = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const oldClass = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } }
const finalizers = ({ metadata }: Loose) => metadata.finalizers

type Row = [
  name: string,
  plugin: AdmissionPlugin,
  request: ReturnType<typeof requestOf>,
  check: (object: Loose) => unknown,
  expected: unknown,
  reader?: MemoryReader,
]
const create = (object: Loose, kind = podKind) => requestOf('CREATE', kind, object)
const seconds = (name: string, object: Loose, expected: Loose[]): Row => [
  name,
  defaultTolerationSeconds(300, 300),
  create(object),
  tolerations,
  expected,
]
const extended = (name: string, object: Loose, expected: unknown): Row => [
  name,
  extendedResourceToleration,
  create(object),
  tolerations,
  expected,
]
const given = (name: string, object: Loose, reader: MemoryReader, expected: unknown): Row => [
  name,
  defaultStorageClass,
  create(object, claimKind),
  storageClass,
  expected,
  reader,
]
const rows: Row[] = [
  seconds('a pod stays five minutes', pod(), [notReady, unreachable]),
  seconds('unless it says how long', tolerating(exists(notReady.key, 'NoExecute')), [
    exists(notReady.key, 'NoExecute'),
    unreachable,
  ]),
  seconds('for every effect', tolerating(exists(unreachable.key)), [
    exists(unreachable.key),
    notReady,
  ]),
  seconds('or tolerates everything', tolerating({ operator: 'Exists' }), [{ operator: 'Exists' }]),
  seconds('but not another effect', tolerating(exists(notReady.key, 'NoSchedule')), [
    exists(notReady.key, 'NoSchedule'),
    notReady,
    unreachable,
  ]),
  [
    'with the seconds of the flags',
    defaultTolerationSeconds(7, 0),
    create(pod()),
    tolerations,
    [
      { ...notReady, tolerationSeconds: 7 },
      { ...unreachable, tolerationSeconds: 0 },
    ],
  ],
  [
    'a binding is not a pod',
    defaultTolerationSeconds(300, 300),
    requestOf('CREATE', podKind, pod(), { subresource: 'binding' }),
    tolerations,
    undefined,
  ],

  extended('the taint of what a pod asks for', pod({ containers: [asking('example.com/gpu')] }), [
    gpu,
  ]),
  extended(
    'all of them, sorted and once',
    pod({
      containers: [asking('example.com/gpu', 'a.b/c', 'cpu', 'hugepages-2Mi', 'kubernetes.io/x')],
      initContainers: [asking('example.com/gpu')],
    }),
    [exists('a.b/c', 'NoSchedule'), gpu],
  ),
  extended('nothing for what every node has', pod({ containers: [asking('cpu')] }), undefined),
  extended(
    'what is there already',
    pod({ tolerations: [gpu, exists('z')], containers: [asking('example.com/gpu')] }),
    [gpu, exists('z')],
  ),
  extended(
    'beside one for a value',
    pod({
      tolerations: [{ ...gpu, operator: 'Equal', value: 'x' }],
      containers: [asking('example.com/gpu')],
    }),
    [{ ...gpu, operator: 'Equal', value: 'x' }, gpu],
  ),

  [
    'a new node is not ready',
    taintNodesByCondition,
    create(node(), nodeKind),
    ({ spec }) => spec.taints,
    [taint],
  ],
  [
    'an existing taint is not added again',
    taintNodesByCondition,
    create(node(taint), nodeKind),
    ({ spec }) => spec.taints,
    [taint],
  ],
  [
    'beside other taints',
    taintNodesByCondition,
    create(node({ ...taint, effect: 'NoExecute' }), nodeKind),
    ({ spec }) => spec.taints,
    [{ ...taint, effect: 'NoExecute' }, taint],
  ],
  [
    'a changed node is left alone',
    taintNodesByCondition,
    requestOf('UPDATE', nodeKind, node(), { old: node() as never }),
    ({ spec }) => spec.taints,
    [],
  ],

  given('no default class', claim(), classes(), undefined),
  given('the default class', claim(), classes(isDefault), 'class1'),
  given('the default class as of old', claim(), classes(wasDefault), 'class1'),
  given('no class on purpose', claim({ storageClassName: '' }), classes(isDefault), ''),
  given('a class as of old', claim({}, oldClass), classes(isDefault), undefined),

  [
    'a claim is protected',
    storageObjectInUseProtection,
    create(claim(), claimKind),
    finalizers,
    ['kubernetes.io/pvc-protection'],
  ],
  [
    'once',
    storageObjectInUseProtection,
    create(claim({}, { finalizers: ['kubernetes.io/pvc-protection'] }), claimKind),
    finalizers,
    ['kubernetes.io/pvc-protection'],
  ],
  [
    'a volume, too',
    storageObjectInUseProtection,
    create(claim({}, { finalizers: ['x'] }), kindOf('v1', 'persistentvolumes')),
    finalizers,
    ['x', 'kubernetes.io/pv-protection'],
  ],
  ['a pod is not', storageObjectInUseProtection, create(pod()), finalizers, undefined],
]
for (const [name, plugin, request, check, expected, reader = new MemoryReader()] of rows)
  test(`${plugin.name}: ${name}`, async () => {
    assert.equal(await outcome(plugin, request, reader), 'admitted')
    assert.deepEqual(check(request.object as Loose), expected)
  })

test('two default classes', async () =>
  assert.equal(
    await outcome(defaultStorageClass, create(claim(), claimKind), classes(isDefault, wasDefault)),
    '403 persistentvolumeclaims "c" is forbidden: Internal error occurred: 2 default StorageClasses were found',
  ))
