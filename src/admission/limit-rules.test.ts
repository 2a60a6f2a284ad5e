import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { limitRanger } from './limit-ranger.ts'
import { kindOf, outcome, pod, podKind, requestOf } from './requests.suite.ts'

type Amounts = Record<string, string>
const plugin = limitRanger({ release: releaseOf(22), podLevel: false })
const holding = (requests?: Amounts, limits?: Amounts) => ({
  name: 'c',
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
})
const one = (requests?: Amounts, limits?: Amounts) =>
  pod({ containers: [holding(requests, limits)] })
const claim = (storage: string) => ({
  metadata: { name: 'p' },
  spec: { resources: { requests: { storage } } },
})
const ratio = (what: string, most: string, why: string, type = 'Container') =>
  `${what} max limit to request ratio per ${type} is ${most}, ${why}`
const noRequest = 'but no request is specified or request is 0'
const noLimit = 'but no limit is specified or limit is 0'

const least = { type: 'Container', min: { cpu: '100m', memory: '10Mi' } }
const most = { type: 'Container', max: { cpu: '1', memory: '1Gi' } }
const relative = { type: 'Container', maxLimitRequestRatio: { cpu: '2', memory: '3' } }
const whole = { type: 'Pod', max: { cpu: '1', memory: '1Gi' }, min: { cpu: '200m' } }
const wholeRatio = { type: 'Pod', maxLimitRequestRatio: { memory: '1500m' } }
const storage = { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } }

const cases: [name: string, limit: Loose, object: Loose, ...problems: string[]][] = [
  ['just enough', least, one({ cpu: '100m', memory: '10Mi' })],
  [
    'too little',
    least,
    one({ cpu: '50m', memory: '10Mi' }),
    'minimum cpu usage per Container is 100m, but request is 50m',
  ],
  [
    'no requests',
    least,
    one(),
    'minimum cpu usage per Container is 100m.  No request is specified',
    'minimum memory usage per Container is 10Mi.  No request is specified',
  ],
  ['a limit that is just enough', least, one({ cpu: '100m', memory: '10Mi' }, { cpu: '100m' })],
  [
    'a limit that is too little',
    least,
    one({ cpu: '100m', memory: '10Mi' }, { cpu: '99m' }),
    'minimum cpu usage per Container is 100m, but limit is 99m',
  ],
  ['just not too much', most, one({}, { cpu: '1', memory: '1Gi' })],
  [
    'a thousandth too much',
    most,
    one({}, { cpu: '1001m', memory: '1Gi' }),
    'maximum cpu usage per Container is 1, but limit is 1001m',
  ],
  [
    'a request that is too much',
    most,
    one({ memory: '2Gi' }, { cpu: '1', memory: '1Gi' }),
    'maximum memory usage per Container is 1Gi, but request is 2Gi',
  ],
  [
    'no limit',
    most,
    one({ cpu: '1' }, { memory: '1' }),
    'maximum cpu usage per Container is 1.  No limit is specified',
  ],
  ['twice', relative, one({ cpu: '1', memory: '1' }, { cpu: '2', memory: '3' })],
  [
    'more than twice',
    relative,
    one({ cpu: '300m', memory: '1Mi' }, { cpu: '700m', memory: '3Mi' }),
    ratio('cpu', '2', 'but provided ratio is 2.333333'),
  ],
  [
    'more than thrice',
    relative,
    one({ cpu: '1', memory: '3' }, { cpu: '1', memory: '10' }),
    ratio('memory', '3', 'but provided ratio is 3.333333'),
  ],
  [
    'no limit to compare',
    relative,
    one({ cpu: '1', memory: '1' }, { memory: '1' }),
    ratio('cpu', '2', noLimit),
  ],
  [
    'a request of zero',
    relative,
    one({ cpu: '0', memory: '1' }, { cpu: '1', memory: '1' }),
    ratio('cpu', '2', noRequest),
  ],
  [
    'a pod without requests and limits',
    whole,
    pod(),
    'minimum cpu usage per Pod is 200m.  No request is specified',
    'maximum cpu usage per Pod is 1.  No limit is specified',
    'maximum memory usage per Pod is 1Gi.  No limit is specified',
  ],
  [
    'two containers together',
    whole,
    pod({
      containers: [
        holding({ cpu: '100m' }, { cpu: '500m', memory: '512Mi' }),
        holding({ cpu: '100m' }, { cpu: '500m', memory: '512Mi' }),
      ],
    }),
  ],
  [
    'two containers with too much',
    whole,
    pod({
      containers: [
        holding({ cpu: '500m' }, { cpu: '600m', memory: '1' }),
        holding({ cpu: '500m' }, { cpu: '600m', memory: '1' }),
      ],
    }),
    'maximum cpu usage per Pod is 1, but limit is 1200m',
  ],
  [
    'an init container with too much',
    whole,
    pod({
      containers: [holding({ cpu: '300m' }, { cpu: '300m', memory: '1' })],
      initContainers: [holding({ cpu: '900m' }, { cpu: '2', memory: '1' })],
    }),
    'maximum cpu usage per Pod is 1, but limit is 2',
  ],
  ['half as much again', wholeRatio, one({ memory: '2Mi' }, { memory: '3Mi' })],
  [
    'twice as much',
    wholeRatio,
    one({ memory: '2Mi' }, { memory: '4Mi' }),
    ratio('memory', '1500m', 'but provided ratio is 2.000000', 'Pod'),
  ],
  [
    'a small claim',
    storage,
    claim('500Mi'),
    'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi',
  ],
  ['the smallest claim', storage, claim('1Gi')],
  ['the largest claim', storage, claim('10Gi')],
  [
    'a large claim',
    storage,
    claim('11Gi'),
    'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi',
  ],
  ['limits of claims do not apply to pods', storage, pod()],
  ['limits of pods do not apply to claims', whole, claim('1')],
]
const claimKind = kindOf('v1', 'persistentvolumeclaims')
for (const [name, limit, object, ...problems] of cases)
  test(name, async () => {
    const reader = new MemoryReader()
    reader.put('', 'limitranges', {
      metadata: { name: 'l', namespace: 'ns' },
      spec: { limits: [limit] },
    } as never)
    const isPod = object.spec.containers !== undefined
    const request = requestOf('CREATE', isPod ? podKind : claimKind, object)
    const stated = problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]
    const expected =
      stated === undefined
        ? 'admitted'
        : `403 ${isPod ? 'pods' : 'persistentvolumeclaims'} "p" is forbidden: ${stated}`
    assert.equal(await outcome(plugin, request, reader), expected)
  })
