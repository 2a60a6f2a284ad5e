import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sizeAnnotations } from './revisions.ts'
import {
  expiredSets,
  isResized,
  resize,
  rolloutOf,
  type Scaling,
  scaleCurrent,
  scaleOld,
  sizeOfCurrent,
} from './rollout.ts'

type Size = number | [replicas: number, available: number]
interface Sizes {
  wanted: number
  surge?: number | string
  unavailable?: number | string
  /** The size of the deployment when its replica sets were scaled. */
  before?: number
  recreate?: boolean
  current?: Size
  old?: Size[]
}

const deploymentOf = ({ wanted, surge = 0, unavailable = 0, recreate }: Sizes): KubeObject => ({
  metadata: { name: 'web', uid: 'web' },
  spec: {
    replicas: wanted,
    template: { metadata: { labels: { version: 'new' } } },
    strategy: recreate
      ? { type: 'Recreate' }
      : {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable },
        },
  },
})

function rolloutFor(sizes: Sizes) {
  const deployment = deploymentOf(sizes)
  const annotations = sizeAnnotations(
    deploymentOf({ ...sizes, wanted: sizes.before ?? sizes.wanted }),
  )
  const set = (name: string, version: string, minute: number, size: Size): KubeObject => {
    const [replicas, available] = typeof size === 'number' ? [size, size] : size
    return {
      metadata: { name, creationTimestamp: `2030-01-01T00:0${minute}:00Z`, annotations },
      spec: {
        replicas,
        template: { metadata: { labels: { version, 'pod-template-hash': name } } },
      },
      status: { replicas, availableReplicas: available },
    }
  }
  const sets = (sizes.old ?? []).map((size, i) => set(`old${i}`, `v${i}`, i, size))
  if (sizes.current !== undefined) sets.unshift(set('current', 'new', 9, sizes.current))
  return rolloutOf(deployment, sets)
}

const shown = (scalings: Scaling[]): Loose =>
  Object.fromEntries(scalings.map(({ set, replicas }) => [set.metadata.name, replicas]))

const firstSizes: [Sizes, number][] = [
  [{ wanted: 3 }, 3],
  [{ wanted: 3, surge: 1, old: [3] }, 1],
  [{ wanted: 3, surge: 0, old: [3] }, 0],
  [{ wanted: 10, surge: '25%', old: [10] }, 3],
  [{ wanted: 3, recreate: true, old: [3] }, 3],
]
for (const [sizes, size] of firstSizes)
  test(`a new replica set beside ${JSON.stringify(sizes)} has ${size} replicas`, () =>
    assert.equal(sizeOfCurrent(rolloutFor(sizes)), size))

const steps: [Sizes, current: Loose, old: Loose][] = [
  [{ wanted: 3, current: 3 }, {}, {}],
  [{ wanted: 3, current: 5 }, { current: 3 }, {}],
  [{ wanted: 10, surge: 3, unavailable: 2, current: [3, 0], old: [10] }, {}, { old0: 8 }],
  [{ wanted: 10, surge: 3, unavailable: 2, current: [3, 0], old: [8] }, { current: 5 }, {}],
  [{ wanted: 10, surge: 3, unavailable: 2, current: [5, 0], old: [[8, 7]] }, {}, {}],
  [{ wanted: 10, surge: 3, unavailable: 2, current: [5, 3], old: [8] }, {}, { old0: 5 }],
  // Pods that are not available go first, wherever they are.
  [
    {
      wanted: 10,
      unavailable: 2,
      current: 2,
      old: [
        [4, 4],
        [4, 1],
      ],
    },
    {},
    { old1: 2 },
  ],
  [{ wanted: 4, unavailable: '1%', surge: 0, current: 0, old: [4] }, {}, { old0: 3 }],
  [{ wanted: 4, surge: 1, current: 4, old: [1] }, {}, { old0: 0 }],
  [{ wanted: 2, surge: 1, current: [2, 1], old: [1, 0] }, {}, {}],
]
for (const [sizes, current, old] of steps)
  test(`a rolling update of ${JSON.stringify(sizes)} scales`, () => {
    const rollout = rolloutFor(sizes)
    assert.deepEqual(shown(scaleCurrent(rollout)), current)
    if (Object.keys(current).length === 0) assert.deepEqual(shown(scaleOld(rollout)), old)
  })

const resizes: [Sizes, Loose][] = [
  [{ wanted: 5, before: 3, current: 3 }, { current: 5 }],
  [{ wanted: 5, before: 3, old: [0, 3] }, { old1: 5 }],
  // Without active replica sets the newest one grows.
  [{ wanted: 5, before: 0, old: [0, 0] }, { old1: 5 }],
  [{ wanted: 5, current: 5 }, {}],
  [{ wanted: 5, current: 5, old: [2] }, { old0: 0 }],
  [
    { wanted: 20, before: 10, surge: '30%', current: 5, old: [8] },
    { old0: 16, current: 10 },
  ],
  [
    { wanted: 5, before: 10, surge: 2, current: 6, old: [6] },
    { old0: 3, current: 4 },
  ],
  [
    { wanted: 0, before: 10, surge: 2, current: 6, old: [6] },
    { old0: 0, current: 0 },
  ],
  [{ wanted: 5, before: 4, recreate: true, current: 2, old: [2] }, {}],
]
for (const [sizes, scalings] of resizes)
  test(`a deployment of ${JSON.stringify(sizes)} is resized to ${JSON.stringify(scalings)}`, () =>
    assert.deepEqual(shown(resize(rolloutFor(sizes))), scalings))

test('a deployment is resized if an active replica set was scaled for another size', () => {
  assert.equal(isResized(rolloutFor({ wanted: 5, before: 3, current: 3 })), true)
  assert.equal(isResized(rolloutFor({ wanted: 5, before: 3, current: 0 })), false)
  assert.equal(isResized(rolloutFor({ wanted: 3, current: 3, old: [1] })), false)
})

const old = (name: string, revision: string, more: Loose = {}): KubeObject => ({
  metadata: { name, annotations: { 'deployment.kubernetes.io/revision': revision }, ...more },
  spec: { replicas: more.replicas ?? 0 },
  status: {},
})
const sets = [old('b', '2'), old('a', '10'), old('c', '3', { replicas: 1 }), old('d', '4')]
for (const [limit, names] of [
  [4, []],
  [3, ['b']],
  [2, ['b']],
  [1, ['b', 'd']],
  [0, ['b', 'd', 'a']],
] as const)
  test(`of four old replica sets ${names} are deleted if ${limit} may stay`, () =>
    assert.deepEqual(
      expiredSets(sets, limit).map(({ metadata }) => metadata.name),
      names,
    ))
