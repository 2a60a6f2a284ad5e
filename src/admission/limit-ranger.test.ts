import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { limitRanger } from './limit-ranger.ts'
import { kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'

const plugin = limitRanger({ release: releaseOf(22), podLevel: false })

const range = (...limits: Loose[]) => {
  const reader = new MemoryReader()
  reader.put('', 'limitranges', { metadata: { name: 'l', namespace: 'ns' }, spec: { limits } })
  return reader
}
const containers = (...resources: Loose[]) =>
  resources.map((one, i) => ({ name: `c${i}`, image: 'i', resources: one }))

test('containers get missing defaults, and an annotation lists them', async () => {
  const reader = range({
    type: 'Container',
    default: { cpu: '1', memory: '1Gi' },
    defaultRequest: { cpu: '500m' },
  })
  const object = pod({
    containers: containers({ limits: { cpu: '2' } }, {}),
    initContainers: containers({}),
  })
  assert.equal(await outcome(plugin, requestOf('CREATE', podKind, object), reader), 'admitted')
  assert.deepEqual(object.spec.containers[0].resources, {
    limits: { cpu: '2', memory: '1Gi' },
    requests: { cpu: '500m' },
  })
  assert.equal(
    object.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu request for container c0; memory limit for container c0; cpu request for container c1; cpu, memory limit for container c1; cpu request for init container c0; cpu, memory limit for init container c0',
  )
})

const refused = 'pods "p" is forbidden: '
const cases: [name: string, limit: Loose, spec: Loose, expected: string][] = [
  [
    'within bounds',
    { type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } },
    { containers: containers({ requests: { cpu: '100m' }, limits: { cpu: '1' } }) },
    'admitted',
  ],
  [
    'no request',
    { type: 'Container', min: { cpu: '1' } },
    {},
    `403 ${refused}minimum cpu usage per Container is 1.  No request is specified`,
  ],
  [
    'small request',
    { type: 'Container', min: { cpu: '1' } },
    { containers: containers({ requests: { cpu: '500m' } }) },
    `403 ${refused}minimum cpu usage per Container is 1, but request is 500m`,
  ],
  [
    'no limit',
    { type: 'Container', max: { memory: '1Gi' } },
    {},
    `403 ${refused}maximum memory usage per Container is 1Gi.  No limit is specified`,
  ],
  [
    'an equal error of two containers is reported once',
    { type: 'Container', max: { memory: '1Gi' } },
    { containers: containers({}, {}) },
    `403 ${refused}maximum memory usage per Container is 1Gi.  No limit is specified`,
  ],
  [
    'large limit and large request',
    { type: 'Container', max: { cpu: '1', memory: '1Gi' } },
    { containers: containers({ limits: { cpu: '2', memory: '2Gi' } }) },
    `403 ${refused}[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]`,
  ],
  [
    'ratio',
    { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    { containers: containers({ requests: { cpu: '100m' }, limits: { cpu: '1' } }) },
    `403 ${refused}cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000`,
  ],
  [
    'ratio without request',
    { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    {},
    `403 ${refused}cpu max limit to request ratio per Container is 2, but no request is specified or request is 0`,
  ],
  [
    'sum of a pod',
    { type: 'Pod', max: { cpu: '1' } },
    { containers: containers({ limits: { cpu: '600m' } }, { limits: { cpu: '600m' } }) },
    `403 ${refused}maximum cpu usage per Pod is 1, but limit is 1200m`,
  ],
  [
    'a limit that one container lacks has no sum',
    { type: 'Pod', max: { cpu: '1' } },
    { containers: containers({ limits: { cpu: '600m' } }, {}) },
    `403 ${refused}maximum cpu usage per Pod is 1.  No limit is specified`,
  ],
  [
    'init containers count by the largest',
    { type: 'Pod', max: { cpu: '1' } },
    {
      containers: containers({ limits: { cpu: '1' } }),
      initContainers: containers({ limits: { cpu: '2' } }),
    },
    `403 ${refused}maximum cpu usage per Pod is 1, but limit is 2`,
  ],
]
for (const [name, limit, spec, expected] of cases) {
  test(name, async () => {
    assert.equal(
      await outcome(plugin, requestOf('CREATE', podKind, pod(spec)), range(limit)),
      expected,
    )
  })
}

test('claims must be within the limits of their storage', async () => {
  const reader = range({
    type: 'PersistentVolumeClaim',
    min: { storage: '1Gi' },
    max: { storage: '2Gi' },
  })
  const kind = kindOf('v1', 'persistentvolumeclaims')
  const claim = (storage: string) => ({
    metadata: { name: 'c', namespace: 'ns' },
    spec: { resources: { requests: { storage } } },
  })
  const run = (storage: string) =>
    outcome(plugin, requestOf('CREATE', kind, claim(storage)), reader)
  assert.equal(await run('1Gi'), 'admitted')
  assert.equal(
    await run('3Gi'),
    '403 persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
  )
  assert.equal(
    await run('1Mi'),
    '403 persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
  )
})

test('updates of pods and other kinds are synchronous', () => {
  const request = requestOf('UPDATE', podKind, pod())
  assert.equal(plugin.mutate?.(request, new MemoryReader()), undefined)
  assert.equal(
    plugin.validate?.(requestOf('CREATE', kindOf('v1', 'configmaps'), {}), new MemoryReader()),
    undefined,
  )
})
