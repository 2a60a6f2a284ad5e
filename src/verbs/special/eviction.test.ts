/** Which pods may be evicted: a table of pods and their budgets. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Storage } from '#storage/storage.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { overlaid } from '#watchcache/picture.suite.ts'
import { evict } from './eviction.ts'

const verbs = await startVerbs()
after(() => verbs.stop())

const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
const unready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }
const calm = { observedGeneration: 1, desiredHealthy: 1, currentHealthy: 1 }

interface Case {
  readonly pod: Loose
  /** The status of each budget that covers the pod. */
  readonly budgets: readonly Loose[]
  readonly expected: string
}
const cases: Record<string, Case> = {
  'no budget': { pod: ready, budgets: [], expected: 'none' },
  'a budget with room': {
    pod: ready,
    budgets: [{ ...calm, disruptionsAllowed: 1 }],
    expected: 'none',
  },
  'a budget without room': {
    pod: ready,
    budgets: [{ ...calm, disruptionsAllowed: 0 }],
    expected: '429 TooManyRequests',
  },
  'a budget nobody has looked at yet': {
    pod: ready,
    budgets: [{ ...calm, observedGeneration: 0, disruptionsAllowed: 5 }],
    expected: '429 TooManyRequests',
  },
  'a budget that has run below nothing': {
    pod: ready,
    budgets: [{ ...calm, disruptionsAllowed: -1 }],
    expected: '403 Forbidden',
  },
  'two budgets': {
    pod: ready,
    budgets: [
      { ...calm, disruptionsAllowed: 1 },
      { ...calm, disruptionsAllowed: 1 },
    ],
    expected: '500 ',
  },
  'a pending pod, whatever its budget': {
    pod: { phase: 'Pending' },
    budgets: [{ ...calm, disruptionsAllowed: 0 }],
    expected: 'none',
  },
  'a pod that has ended': {
    pod: { phase: 'Failed' },
    budgets: [{ ...calm, disruptionsAllowed: 0 }],
    expected: 'none',
  },
  'an unready pod where enough others are well': {
    pod: unready,
    budgets: [{ ...calm, disruptionsAllowed: 0 }],
    expected: 'none',
  },
  'an unready pod where too few are well': {
    pod: unready,
    budgets: [{ ...calm, currentHealthy: 0, disruptionsAllowed: 0 }],
    expected: '429 TooManyRequests',
  },
}

const eviction = (name: string, more: object = {}) =>
  evict(
    verbs.server,
    verbs.request(verbs.target('pods', name, 'eviction'), { metadata: { name }, ...more }),
  )

/** The server's own manager, as in kube-apiserver, which uses its own client. */
const ownedByServer = (pod: string): Loose => ({
  manager: 'kube-apiserver',
  operation: 'Update',
  apiVersion: 'policy/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: {
    'f:status': {
      'f:conditions': {
        '.': {},
        'k:{"type":"DisruptionAllowed"}': {
          '.': {},
          'f:lastTransitionTime': {},
          'f:message': {},
          'f:observedGeneration': {},
          'f:reason': {},
          'f:status': {},
          'f:type': {},
        },
      },
      'f:disruptedPods': { '.': {}, [`f:${pod}`]: {} },
      'f:disruptionsAllowed': {},
    },
  },
  subresource: 'status',
  time: undefined,
})

const atOnce = { deleteOptions: { gracePeriodSeconds: 0 } }

let made = 0
for (const [what, { pod, budgets, expected }] of Object.entries(cases)) {
  test(`eviction under ${what}: ${expected}`, async () => {
    const name = `pod${made++}`
    const labels = { of: name }
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const created = await verbs.create('pods', { metadata: { name, labels }, spec })
    await verbs.update('pods', { ...created, status: pod } as KubeObject, 'status')
    for (const [i, status] of budgets.entries()) {
      const budget = {
        metadata: { name: `${name}-${i}` },
        spec: { selector: { matchLabels: labels } },
      }
      const kept = await verbs.create('poddisruptionbudgets', budget)
      await verbs.update('poddisruptionbudgets', { ...kept, status } as KubeObject, 'status')
    }
    await verbs.settled()
    assert.equal(await refusalOf(eviction(name, atOnce)), expected)
    const isGone = (await refusalOf(verbs.get('pods', name))) === '404 NotFound'
    assert.equal(isGone, expected === 'none')
    if (what !== 'a budget with room') return
    const { metadata, status } = await verbs.get('poddisruptionbudgets', `${name}-0`)
    const owner = metadata.managedFields?.find(({ manager }) => manager === 'kube-apiserver')
    assert.deepEqual({ ...owner, time: undefined }, ownedByServer(name))
    assert.equal(status.disruptionsAllowed ?? 0, 0)
    assert.deepEqual(Object.keys(status.disruptedPods), [name])
    const [{ lastTransitionTime, ...none }] = status.conditions
    assert.equal(lastTransitionTime, status.disruptedPods[name])
    assert.deepEqual(none, {
      type: 'DisruptionAllowed',
      status: 'False',
      observedGeneration: 1,
      reason: 'InsufficientPods',
      message: '',
    })
  })
}

/** The result of an eviction under a used up budget, and the type of the budget's condition. */
async function evictedIn(release: number, status: Loose): Promise<(string | undefined)[]> {
  const own = await startVerbs(undefined, undefined, release)
  try {
    const labels = { of: 'p' }
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pod = await own.create('pods', { metadata: { name: 'p', labels }, spec })
    await own.update('pods', { ...pod, status } as KubeObject, 'status')
    const room = status.conditions[0].status === 'True' ? 1 : 0
    const selector = { matchLabels: labels }
    const kept = await own.create('poddisruptionbudgets', {
      metadata: { name: 'b' },
      spec: { selector },
    })
    const left = { ...calm, disruptionsAllowed: room }
    await own.update('poddisruptionbudgets', { ...kept, status: left } as KubeObject, 'status')
    await own.settled()
    const body = { metadata: { name: 'p' }, ...atOnce }
    const result = await refusalOf(
      evict(own.server, own.request(own.target('pods', 'p', 'eviction'), body)),
    )
    const budget = await own.get('poddisruptionbudgets', 'b')
    return [result, budget.status.conditions?.[0].type]
  } finally {
    await own.stop()
  }
}

checkBoundaries<Loose, (string | undefined)[]>(evictedIn, [
  [
    'an unready pod where enough others are well',
    [19, 20],
    unready,
    ['429 TooManyRequests', undefined],
    ['none', undefined],
  ],
  ['a budget that is used up', [20, 21], ready, ['none', undefined], ['none', 'DisruptionAllowed']],
])

test('concurrent evictions use the budget one by one, and never exceed it', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `crowd-${letter}`)
  const labels = { of: 'crowd' }
  for (const name of names) {
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const created = await verbs.create('pods', { metadata: { name, labels }, spec })
    await verbs.update('pods', { ...created, status: ready } as KubeObject, 'status')
  }
  const budget = { metadata: { name: 'crowd' }, spec: { selector: { matchLabels: labels } } }
  const kept = await verbs.create('poddisruptionbudgets', budget)
  const status = { ...calm, disruptionsAllowed: 3 }
  await verbs.update('poddisruptionbudgets', { ...kept, status } as KubeObject, 'status')
  await verbs.settled()
  const reported = await Promise.all(names.map((name) => refusalOf(eviction(name))))
  const full = '429 TooManyRequests'
  assert.deepEqual(reported.toSorted(), [full, full, 'none', 'none', 'none'])
})

const changing: [what: string, before: Loose, budget: Loose, expected: string][] = [
  ['waits for its start', { phase: 'Pending' }, calm, '429 TooManyRequests'],
  ['is not well', unready, calm, '429 TooManyRequests'],
  ['is well', ready, { ...calm, disruptionsAllowed: 1 }, 'none'],
]
for (const [what, before, budget, expected] of changing) {
  test(`a pod that ${what} when it is read, and is healthy when it is deleted: ${expected}`, async () => {
    const name = what.replaceAll(' ', '-')
    const labels = { of: name }
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pod = await verbs.create('pods', { metadata: { name, labels }, spec })
    await verbs.update('pods', { ...pod, status: before } as KubeObject, 'status')
    const kept = await verbs.create('poddisruptionbudgets', {
      metadata: { name },
      spec: { selector: { matchLabels: labels } },
    })
    await verbs.update('poddisruptionbudgets', { ...kept, status: budget } as KubeObject, 'status')
    await verbs.settled()
    // The deletion arrives just too late.
    let isLate = false
    const put: Storage['put'] = async (key, ...rest) => {
      if (!isLate && key.includes('/pods/')) {
        isLate = true
        const live = await verbs.get('pods', name)
        const conditions = [...ready.conditions, { type: 'Late', status: 'True' }]
        const status = { ...ready, conditions }
        await verbs.update('pods', { ...live, status } as unknown as KubeObject, 'status')
      }
      return verbs.storage.put(key, ...rest)
    }
    const storage = overlaid(verbs.storage, { put })
    const request = verbs.request(verbs.target('pods', name, 'eviction'), { metadata: { name } })
    assert.equal(await refusalOf(evict({ ...verbs.server, storage }, request)), expected)
    assert.ok(isLate)
  })
}

const unreadable = { matchExpressions: [{ key: 'of', operator: 'In', values: ['no label'] }] }
test('a budget with an invalid selector matches no pod', async () => {
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const created = await verbs.create('pods', { metadata: { name: 'free' }, spec })
  await verbs.update('pods', { ...created, status: ready } as KubeObject, 'status')
  await verbs.create('poddisruptionbudgets', {
    metadata: { name: 'unreadable' },
    spec: { selector: unreadable },
  })
  await verbs.settled()
  assert.equal(await refusalOf(eviction('free', atOnce)), 'none')
  await verbs.remove('poddisruptionbudgets', 'unreadable')
})

test('a dry-run eviction changes neither the pod nor the budget', async () => {
  await verbs.create('pods', {
    metadata: { name: 'tried' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  await eviction('tried', { deleteOptions: { dryRun: ['All'], gracePeriodSeconds: 0 } })
  await eviction('tried', { deleteOptions: { kind: 'Pod', dryRun: ['All'] } })
  assert.equal((await verbs.get('pods', 'tried')).metadata.deletionTimestamp, undefined)
})

const refusals: [what: string, body: object, at: string, expected: string][] = [
  ['of another name', { metadata: { name: 'other' } }, 'tried', '400 BadRequest'],
  ['of no pod', { metadata: { name: 'missing' } }, 'missing', '404 NotFound'],
  [
    'of no pod, whose options are wrong too',
    { metadata: { name: 'missing' }, deleteOptions: { dryRun: ['x'] } },
    'missing',
    '404 NotFound',
  ],
  [
    'of another kind',
    { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'tried' } },
    'tried',
    '400 BadRequest',
  ],
]
for (const [what, body, at, expected] of refusals) {
  test(`an eviction ${what} is refused`, async () => {
    const request = verbs.request(verbs.target('pods', at, 'eviction'), body)
    assert.equal(await refusalOf(evict(verbs.server, request)), expected)
  })
}

test('an eviction without a pod name is 404, in the form of 1.15', async () => {
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await verbs.create('pods', { metadata: { name: 'named' }, spec })
  const ask = (release: number) =>
    evict(
      { ...verbs.server, release },
      verbs.request(verbs.target('pods', 'named', 'eviction'), {}),
    )
  await assert.rejects(ask(15), { message: 'Name parameter required.' })
  await assert.rejects(ask(16), { message: 'name in URL does not match name in Eviction object' })
})
