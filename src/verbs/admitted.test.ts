/** The calls of plugins and webhooks for a write: their number, arguments and order. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { AdmissionRequest } from '#admission/admission.ts'
import { AdmissionChain } from '#admission/chain.ts'
import { namespaceLifecycle } from '#admission/namespace-lifecycle.ts'
import { parseListOptions } from '#api/list-options.ts'
import type { Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import { deleteCollection } from './delete-collection.ts'
import { remove } from './delete.ts'
import { deleteOptionsFrom } from './delete-options.ts'
import { refusalOf, startVerbs } from './fixture.suite.ts'
import { create } from './create.ts'
import { patch } from './patch.ts'
import { update } from './update.ts'
import type { Server, Target } from './server.ts'
import { specialVerbs } from './special.ts'

const verbs = await startVerbs()
after(() => verbs.stop())

/** One line per call: step, operation, and the part of the request that a test needs. */
let heard: string[] = []
let shows: (request: AdmissionRequest) => unknown = () => ''
let refuses: (request: AdmissionRequest) => boolean = () => false
const hear = (step: string) => (request: AdmissionRequest) => {
  heard.push(`${step} ${request.operation} ${JSON.stringify(shows(request) ?? null)}`)
  if (refuses(request)) throw new ApiError(403, 'Forbidden', 'no')
}
const chain = new AdmissionChain(
  [
    {
      name: 'Hearing',
      asksOthers: () => true,
      mutate: async (request) => hear('admit')(request),
      validate: async (request) => hear('validate')(request),
    },
  ],
  verbs.server.reader,
)
const server: Server = { ...verbs.server, admission: chain }

beforeEach(() => {
  heard = []
  shows = () => ''
  refuses = () => false
})

const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const deletion = (target: Target, options: object = {}) => ({
  ...verbs.request(target),
  deleteOptions: deleteOptionsFrom(options, 22),
})
const both = (operation: string, shown: unknown) => [
  `admit ${operation} ${JSON.stringify(shown)}`,
  `validate ${operation} ${JSON.stringify(shown)}`,
]

const onNode = { nodeName: 'n1', terminationGracePeriodSeconds: 30 }
const deletions: [what: string, spec: object, options: object[], expected: unknown[]][] = [
  ['the default grace period, if the request has none', onNode, [{}], [[30, false]]],
  ['the requested grace period', onNode, [{ gracePeriodSeconds: 7 }], [[7, false]]],
  ['not for an object that is already being deleted', onNode, [{}, {}], [[30, false]]],
  [
    'a second deletion with less grace',
    onNode,
    [{}, { gracePeriodSeconds: 5 }],
    [
      [30, false],
      [5, true],
    ],
  ],
  [
    'an immediate deletion is marked and removed',
    onNode,
    [{ gracePeriodSeconds: 0 }],
    [
      [0, false],
      [0, true],
    ],
  ],
  [
    'a mark and a removal of what has no node',
    {},
    [{}],
    [
      [0, false],
      [0, true],
    ],
  ],
]
for (const [i, [what, spec, options, expected]] of deletions.entries()) {
  test(`admission of a pod's deletion: ${what}`, async () => {
    const name = `gone-${i}`
    await verbs.create('pods', pod(name, spec))
    shows = ({ options: { gracePeriodSeconds }, old }) => [
      gracePeriodSeconds,
      old?.metadata.deletionTimestamp !== undefined,
    ]
    for (const one of options) await remove(server, deletion(verbs.target('pods', name), one))
    assert.deepEqual(
      heard,
      expected.flatMap((shown) => both('DELETE', shown)),
    )
  })
}

const tries: [release: number, dryRun: boolean, expected: number][] = [
  [18, false, 2],
  [18, true, 1],
  [19, false, 1],
]
for (const [i, [release, dryRun, expected]] of tries.entries()) {
  test(`1.${release} tries a refused ${dryRun ? 'dry run' : 'write'} ${expected} times`, async () => {
    const name = `refused-${i}`
    const made = await verbs.create('configmaps', { metadata: { name } })
    refuses = ({ operation }) => operation === 'UPDATE'
    const target = verbs.target('configmaps', name)
    const older = { ...server, release }
    const write = () => update(older, verbs.request(target, made, { dryRun }))
    assert.equal(await refusalOf(write()), '403 Forbidden')
    assert.equal(heard.length, expected)
  })
  test(`1.${release} calls admission ${expected} times for what its last finalizer leaves, dry run ${dryRun}`, async () => {
    const name = `finalized-${i}`
    await verbs.create('configmaps', { metadata: { name, finalizers: ['a.b/c'] } })
    const leaving = await verbs.remove('configmaps', name)
    const { finalizers: _, ...metadata } = leaving.metadata
    const target = verbs.target('configmaps', name)
    const older = { ...server, release }
    await update(older, verbs.request(target, { ...leaving, metadata }, { dryRun }))
    assert.equal(heard.length, 2 * expected)
  })
}

test('admission runs for the release and the removal of an object that a finalizer held', async () => {
  await verbs.create('configmaps', { metadata: { name: 'held', finalizers: ['orphan'] } })
  const background = deletion(verbs.target('configmaps', 'held'), {
    propagationPolicy: 'Background',
  })
  await remove(server, background)
  assert.deepEqual(heard, [...both('DELETE', ''), ...both('DELETE', '')])
  heard = []
  await verbs.create('configmaps', { metadata: { name: 'held', finalizers: ['orphan'] } })
  await remove({ ...server, release: 18 }, background)
  assert.equal(heard.length, 6)
})

test('a rejected deletion ends deletecollection: later objects stay', async () => {
  for (const name of ['a', 'b', 'c']) {
    await verbs.create('secrets', { metadata: { name } })
  }
  refuses = ({ old }) => old?.metadata.name === 'b'
  shows = ({ old }) => old?.metadata.name
  const all = deletion(verbs.target('secrets'))
  const every = parseListOptions(new URLSearchParams(), 22)
  assert.equal(await refusalOf(deleteCollection(server, all, every)), '403 Forbidden')
  assert.deepEqual(heard, [...both('DELETE', 'a'), 'admit DELETE "b"'])
  const left = await verbs.list('secrets')
  assert.deepEqual(
    left.entries.map(({ name }) => name),
    ['b', 'c'],
  )
})

test('plugins see the options of each deletion of a collection as sent', async () => {
  await verbs.create('pods', pod('one-of-many'))
  shows = ({ options: { gracePeriodSeconds }, name }) => [gracePeriodSeconds, name]
  const only = parseListOptions(new URLSearchParams('fieldSelector=metadata.name=one-of-many'), 22)
  await deleteCollection(server, deletion(verbs.target('pods')), only)
  // The object is marked and then removed.
  const each = both('DELETE', [null, ''])
  assert.deepEqual(heard, [...each, ...each])
  heard = []
  await verbs.create('pods', pod('one-of-many'))
  await deleteCollection({ ...server, release: 21 }, deletion(verbs.target('pods')), only)
  const older = both('DELETE', [0, ''])
  assert.deepEqual(heard, [...older, ...older])
})

const apply = (plural: string, object: Loose, manager: string) =>
  patch(server, {
    ...verbs.request(verbs.target(plural, object.metadata.name), undefined, {
      fieldManager: manager,
    }),
    patchType: 'apply',
    patchBytes: Buffer.from(JSON.stringify(object)),
  })
const managers = (object: Loose | undefined) =>
  object?.metadata.managedFields?.map((entry: Loose) => entry.manager)
const seenOf = ({ object, old, showsOldOwners }: AdmissionRequest) => [
  object === old,
  managers(object),
  managers(old),
  showsOldOwners === true,
]
const map = (name: string, data: Loose) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data,
})
const service = (port: number) => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'seen' },
  spec: { clusterIP: 'None', ports: [{ port }] },
})
const applied: [what: string, plural: string, first: Loose, then: Loose, expected: unknown[][]][] =
  [
    [
      'changes nothing but owners is one object, before and after',
      'configmaps',
      map('same', { a: 'b' }),
      map('same', { a: 'b' }),
      [
        [true, ['one', 'two'], ['one', 'two'], false],
        [true, ['one', 'two'], ['one', 'two'], false],
      ],
    ],
    [
      'changes something is two',
      'configmaps',
      map('other', { a: 'b' }),
      map('other', { c: 'd' }),
      [
        [false, ['one', 'two'], ['one'], false],
        [false, ['one', 'two'], ['one'], false],
      ],
    ],
    [
      'is of a service is found once more by those that only look, owners and all',
      'services',
      service(80),
      service(80),
      [
        [true, ['one', 'two'], ['one', 'two'], false],
        [false, ['one', 'two'], ['one'], true],
      ],
    ],
  ]
for (const [what, plural, first, then, expected] of applied) {
  test(`what an apply that ${what}`, async () => {
    await apply(plural, first, 'one')
    heard = []
    shows = seenOf
    await apply(plural, then, 'two')
    const steps = ['admit', 'validate']
    assert.deepEqual(
      heard,
      expected.map((seen, i) => `${steps[i]} UPDATE ${JSON.stringify(seen)}`),
    )
  })
}

test("a webhook's change to an apply without changes does not increase the generation", async () => {
  const spec = { selector: { matchLabels: { a: 'b' } }, template: template() }
  const deployment = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'still' },
    spec,
  }
  await apply('deployments', deployment, 'one')
  shows = ({ operation, object }) => {
    if (operation === 'UPDATE' && object) object.spec.replicas = 7
  }
  await apply('deployments', deployment, 'one')
  const after = await verbs.get('deployments', 'still')
  assert.deepEqual([after.spec.replicas, after.metadata.generation], [7, 1])
})

const template = () => ({ metadata: { labels: { a: 'b' } }, spec: pod('').spec })

const names: [what: string, metadata: Loose, change: Loose, expected: RegExp][] = [
  ['the requested name', { name: 'asked' }, { name: 'renamed' }, /^"asked"$/],
  ['by the name that was made for it', { generateName: 'made-' }, {}, /^"made-[a-z0-9]{5}"$/],
]
for (const [what, metadata, change, expected] of names) {
  test(`those that only look know a new object ${what}`, async () => {
    shows = ({ name, object }) => {
      if (object?.metadata.uid === undefined) Object.assign(object?.metadata ?? {}, change)
      return name
    }
    await create(server, verbs.request(verbs.target('configmaps'), { metadata }))
    assert.match(heard[1].replace('validate CREATE ', ''), expected)
  })
}

test('a namespace with a generated name has it as a label', async () => {
  const { metadata } = await verbs.create('namespaces', { metadata: { generateName: 'made-' } })
  assert.equal(metadata.labels?.['kubernetes.io/metadata.name'], metadata.name)
})

test('before it is stored, a claim has no phase and a token volume no file mode', async () => {
  const claim = {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  shows = ({ object }) => object?.status?.phase
  await create(server, verbs.request(verbs.target('persistentvolumeclaims'), claim))
  assert.equal(heard[1], 'validate CREATE null')
  assert.equal((await verbs.get('persistentvolumeclaims', 'c')).status.phase, 'Pending')
  shows = ({ object }) => {
    if (object) object.spec.volumes = [{ name: 'v', projected: { sources: [] } }]
  }
  await create(server, verbs.request(verbs.target('pods'), pod('with-token')))
  const { spec } = await verbs.get('pods', 'with-token')
  assert.equal(spec.volumes[0].projected.defaultMode, 420)
})

const marked: [plural: string, object: Loose][] = [
  ['namespaces', { metadata: { name: 'leaving' } }],
  [
    'customresourcedefinitions',
    {
      metadata: { name: 'gears.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gears', kind: 'Gear', singular: 'gear', listKind: 'GearList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    },
  ],
]
for (const [plural, object] of marked) {
  test(`of ${plural} it is this very object that goes`, async () => {
    const { metadata } = await verbs.create(plural, object)
    shows = ({ options: { uid } }) => uid
    const target = verbs.target(plural, metadata.name)
    await specialVerbs(target).delete?.(server, deletion(target))
    assert.deepEqual(heard, both('DELETE', metadata.uid))
  })
}

const shownEntry = ({ object }: AdmissionRequest) => {
  const [entry] = object?.metadata.managedFields ?? []
  return [object?.apiVersion, entry?.manager, entry?.subresource, entry?.fieldsV1]
}
const bodies: [what: string, subresource: string, body: Loose, expected: unknown][] = [
  [
    'a binding',
    'binding',
    { kind: 'Binding', apiVersion: 'v1', target: { kind: 'Node', name: 'n1' } },
    ['v1', 'test', 'binding', { 'f:target': {} }],
  ],
  [
    'an eviction of the older version, which is shown in the newer',
    'eviction',
    { kind: 'Eviction', apiVersion: 'policy/v1beta1', deleteOptions: { gracePeriodSeconds: 1 } },
    [
      'policy/v1',
      'test',
      'eviction',
      { 'f:deleteOptions': { '.': {}, 'f:gracePeriodSeconds': {} } },
    ],
  ],
]
for (const [what, subresource, body, expected] of bodies) {
  test(`${what} reaches admission with its owners`, async () => {
    await verbs.create('pods', pod(subresource))
    shows = shownEntry
    const target = verbs.target('pods', subresource, subresource)
    const metadata = { name: subresource }
    await specialVerbs(target).create?.(server, verbs.request(target, { ...body, metadata }))
    assert.deepEqual(heard, both('CREATE', expected))
  })
}

test('plugins see a Scale as sent with its managedFields, and then as stored', async () => {
  await verbs.create('deployments', {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: pod('').spec },
    },
  })
  shows = ({ object }) => [
    object?.spec,
    object?.metadata.uid !== undefined,
    object?.metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource]),
  ]
  const target = verbs.target('deployments', 'd', 'scale')
  const scale = { metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 4 } }
  await specialVerbs(target).update?.(server, verbs.request(target, scale))
  assert.deepEqual(heard, [
    `admit UPDATE ${JSON.stringify([{ replicas: 4 }, false, [['test', 'scale']]])}`,
    `validate UPDATE ${JSON.stringify([{ replicas: 4 }, true, null])}`,
  ])
})

test('an invalid Scale is rejected after the mutating plugins ran', async () => {
  await verbs.create('deployments', {
    metadata: { name: 'bad' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: template() },
  })
  const target = verbs.target('deployments', 'bad', 'scale')
  const scale = { metadata: { name: 'bad', namespace: 'default' }, spec: { replicas: -1 } }
  const write = async () => specialVerbs(target).update?.(server, verbs.request(target, scale))
  assert.equal(await refusalOf(write()), '422 Invalid')
  assert.deepEqual(heard, ['admit UPDATE ""'])
  shows = ({ object }) => {
    if (object) object.spec.replicas = 3
  }
  await write()
  assert.equal((await verbs.get('deployments', 'bad')).spec.replicas, 3)
})

const evictions: [release: number, expected: string[]][] = [
  [18, ['admit CREATE ""']],
  [19, ['admit CREATE ""', 'validate CREATE ""']],
]
for (const [release, expected] of evictions) {
  test(`in 1.${release} an eviction of no pod reaches ${expected.length}`, async () => {
    const target = verbs.target('pods', 'nobody', 'eviction')
    const body = { kind: 'Eviction', apiVersion: 'policy/v1beta1', metadata: { name: 'nobody' } }
    const older = { ...server, release }
    const evict = async () => specialVerbs(target).create?.(older, verbs.request(target, body))
    assert.equal(await refusalOf(evict()), '404 NotFound')
    assert.deepEqual(heard, expected)
  })
}

for (const [subresource, kind, apiVersion] of [
  ['binding', 'Binding', 'v1'],
  ['eviction', 'Eviction', 'policy/v1'],
]) {
  test(`a webhook may not give ${subresource} another name`, async () => {
    await verbs.create('pods', pod(`named-${subresource}`))
    const target = verbs.target('pods', `named-${subresource}`, subresource)
    shows = ({ object }) => {
      if (object) object.metadata.name = 'other'
    }
    const body = {
      kind,
      apiVersion,
      metadata: { name: target.name },
      target: { kind: 'Node', name: 'n' },
    }
    const ask = async () => specialVerbs(target).create?.(server, verbs.request(target, body))
    assert.equal(await refusalOf(ask()), '400 BadRequest')
    assert.deepEqual(heard, ['admit CREATE null'])
  })
}

const reviews: [plural: string, spec: object, expected: string[]][] = [
  ['selfsubjectrulesreviews', {}, ['admit CREATE ""']],
  ['selfsubjectaccessreviews', {}, ['admit CREATE ""']],
]
for (const [plural, spec, expected] of reviews) {
  test(`plugins may complete ${plural} before they are checked`, async () => {
    const kind = server.catalog.find('authorization.k8s.io', 'v1', plural)
    assert.ok(kind)
    const target = { kind, namespace: '', name: '', subresource: '' }
    const ask = async () => specialVerbs(target).create?.(server, verbs.request(target, { spec }))
    assert.match(await refusalOf(ask()), /^4/)
    assert.deepEqual(heard, expected)
  })
}

for (const step of ['mutate', 'validate'])
  test(`nothing is made in a namespace that is deleted during admission: ${step}`, async () => {
    const namespaces = await startVerbs()
    const { reader } = namespaces.server
    await namespaces.create('namespaces', { metadata: { name: 'default' } })
    const goes = async () => void (await namespaces.remove('namespaces', 'default'))
    const admission = new AdmissionChain(
      [namespaceLifecycle(22), { name: 'Slow', [step]: goes }],
      reader,
    )
    const request = namespaces.request(namespaces.target('configmaps'), { metadata: { name: 'a' } })
    const made = create({ ...namespaces.server, admission }, request)
    assert.match(await refusalOf(made), /^(403 Forbidden|404 NotFound)$/)
    assert.equal((await namespaces.list('configmaps')).entries.length, 0)
    await namespaces.stop()
  })

const firstViews: [release: number, created: unknown[], updated: unknown[]][] = [
  [23, [undefined, 'mine'], [undefined]],
  [24, ['default', 'mine'], ['default']],
  [25, ['default', undefined], ['default']],
]
for (const [release, created, updated] of firstViews)
  test(`plugins that change an object see of its metadata in 1.${release}`, async () => {
    const at = { ...server, release }
    const target = verbs.target('configmaps', `seen-${release}`)
    const metadata = { name: target.name }
    shows = ({ object }) => [object?.metadata.namespace, object?.metadata.uid]
    await create(at, verbs.request(target, { metadata: { ...metadata, uid: 'mine' } }))
    assert.equal(heard[0], `admit CREATE ${JSON.stringify(created)}`)
    heard = []
    shows = ({ object }) => [object?.metadata.namespace]
    await update(at, verbs.request(target, { metadata, data: { a: 'b' } }))
    assert.equal(heard[0], `admit UPDATE ${JSON.stringify(updated)}`)
  })
