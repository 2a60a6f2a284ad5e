/**
 * Server-side apply as a client of the API meets it: who owns what, conflicts, removal, resets, and
 * the way from kubectl's own apply.
 */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { judge, type Said, say, type Wanted } from './conversation.fixture.ts'
import { type RunningServer, startServer } from './running-server.ts'

let server: RunningServer
before(async () => {
  server = await startServer(['--controllers=-*'])
})
after(() => server.stop())

const maps = '/api/v1/namespaces/default/configmaps'
const sets = '/apis/apps/v1/namespaces/default/deployments'
const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

const map = (name: string, data?: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...(data && { data }),
})
const container = (name: string, more: object = {}) => ({ name, image: 'nginx', ...more })
const deployment = (name: string, spec: object = {}, containers: object[] = [container('c')]) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers } },
    ...spec,
  },
})

/**
 * One line of a conversation about a ConfigMap: how, as whom, the data or body, and what must come
 * of it.
 */
type Line = [how: Said['method'], as: string, body: unknown, wanted?: Wanted, query?: string]
/** Lines about one ConfigMap; objects with `data` alone stand for a whole one. */
const conversations: [about: string, ...lines: Line[]][] = [
  [
    'the body of an apply is a part of the object, and has no managedFields',
    ['apply', 'one', { data: { a: '1' } }, { status: 201, owners: ['one Apply data.a'] }],
    [
      'apply',
      'one',
      { metadata: { managedFields: [] } },
      { status: 400, message: 'metadata.managedFields must be nil' },
    ],
    [
      'apply',
      'one',
      { metadata: { managedFields: [1] } },
      {
        status: 500,
        message:
          'failed to create typed patch object: .metadata.managedFields[0]: expected map, got &{1}',
      },
    ],
  ],
  [
    'an apply is of the kind it is sent to',
    [
      'apply',
      'one',
      { kind: 'Other', data: { a: '1' } },
      {
        status: 500,
        message: 'failed to create typed patch object: no corresponding type for /v1, Kind=Other',
      },
    ],
    ['GET', '', undefined, { status: 404 }],
  ],
  [
    'an apply has a manager with a limited name',
    [
      'apply',
      '',
      { data: { a: '1' } },
      {
        status: 422,
        message:
          'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      },
    ],
    [
      'apply',
      'x'.repeat(129),
      { data: { a: '1' } },
      { status: 422, message: /fieldManager: Too long: must have at most 128 bytes/ },
    ],
    ['GET', '', undefined, { status: 404 }],
  ],
  [
    'what is absent is created, what is there is merged, and the applied values win',
    ['apply', 'one', { data: { a: '1', b: '1' } }, { status: 201 }],
    [
      'apply',
      'one',
      { data: { a: '2', b: '1' } },
      { has: { data: { a: '2', b: '1' } }, owners: ['one Apply data.a data.b'] },
    ],
  ],
  [
    'a field that its manager leaves out is removed, unless another owns it',
    ['apply', 'one', { data: { a: '1', b: '1', c: '1' } }, { status: 201 }],
    ['apply', 'two', { data: { b: '1' } }],
    [
      'apply',
      'one',
      { data: { a: '1' } },
      { has: { data: { a: '1', b: '1' } }, owners: ['one Apply data.a', 'two Apply data.b'] },
    ],
  ],
  [
    'the last writer of a value owns it, whichever verb it uses',
    [
      'POST',
      'post',
      { data: { a: '1', b: '1', c: '1', d: '1', e: '1' } },
      {
        status: 201,
        owners: ['post Update data data.a data.b data.c data.d data.e'],
      },
    ],
    ['merge', 'merge', { data: { a: '2' } }],
    ['strategic', 'strategic', { data: { b: '2' } }],
    ['json', 'json', [{ op: 'replace', path: '/data/c', value: '2' }]],
    ['PUT', 'put', { data: { a: '2', b: '2', c: '2', d: '2', e: '1' } }],
    [
      'force',
      'apply',
      { data: { e: '2' } },
      {
        has: { data: { a: '2', b: '2', c: '2', d: '2', e: '2' } },
        owners: [
          'apply Apply data.e',
          'json Update data.c',
          'merge Update data.a',
          'post Update data',
          'put Update data.d',
          'strategic Update data.b',
        ],
      },
    ],
  ],
  [
    'all managers that apply the same value own it; an update takes a field without a conflict',
    ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
    ['apply', 'two', { data: { a: '1' } }, { owners: ['one Apply data.a', 'two Apply data.a'] }],
    ['merge', 'three', { data: { a: '2' } }, { owners: ['three Update data.a'] }],
  ],
  [
    'a conflict names each field and its manager, and changes nothing',
    ['apply', 'one', { data: { a: '1', b: '1' } }, { status: 201 }],
    ['merge', 'two', { data: { c: '1' } }],
    [
      'apply',
      'three',
      { data: { a: '2', c: '2' } },
      {
        status: 409,
        message:
          'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "two" using v1:\n- .data.c',
        causes: [
          'FieldManagerConflict .data.a: conflict with "one"',
          'FieldManagerConflict .data.c: conflict with "two" using v1',
        ],
      },
    ],
    [
      'GET',
      '',
      undefined,
      {
        has: { data: { a: '1', b: '1', c: '1' } },
        owners: ['one Apply data.a data.b', 'two Update data.c'],
      },
    ],
  ],
  [
    'a conflict is resolved by force: the value changes, and has one owner',
    ['apply', 'one', { data: { a: '1', b: '1' } }, { status: 201 }],
    [
      'force',
      'two',
      { data: { a: '2' } },
      { has: { 'data.a': '2' }, owners: ['one Apply data.b', 'two Apply data.a'] },
    ],
  ],
  [
    'a conflict is resolved by leaving the field out: the value stays, the ownership ends',
    ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
    ['apply', 'two', { data: { a: '1', b: '1' } }],
    ['force', 'one', { data: { a: '2' } }],
    [
      'apply',
      'two',
      { data: { b: '1' } },
      { has: { data: { a: '2', b: '1' } }, owners: ['one Apply data.a', 'two Apply data.b'] },
    ],
  ],
  [
    'a conflict is resolved by the live value: it stays, and is shared',
    ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
    ['apply', 'two', { data: { a: '2' } }, { status: 409 }],
    [
      'apply',
      'two',
      { data: { a: '1' } },
      { has: { 'data.a': '1' }, owners: ['one Apply data.a', 'two Apply data.a'] },
    ],
  ],
  [
    'an apply needs no version, and removes only fields that its manager applied',
    ['POST', 'one', { data: { a: '1', b: '1' } }, { status: 201 }],
    ['force', 'controller', { data: { a: '2' } }],
    [
      'force',
      'controller',
      { data: {} },
      { has: { data: { b: '1' } }, owners: ['controller Apply data', 'one Update data data.b'] },
    ],
  ],
  [
    'a specified version or uid is a precondition',
    ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
    [
      'apply',
      'one',
      { metadata: { resourceVersion: '1' }, data: { a: '2' } },
      { status: 409, message: /the object has been modified/ },
    ],
    [
      'apply',
      'one',
      { metadata: { uid: 'other' }, data: { a: '2' } },
      { status: 422, message: /metadata\.uid: Invalid value: "other": field is immutable/ },
    ],
    ['GET', '', undefined, { has: { 'data.a': '1' } }],
  ],
  [
    'a manager without fields is removed: a temporary manager hands a field over',
    ['apply', 'user', { data: { a: '1', b: '1' } }, { status: 201 }],
    ['apply', 'keeper', { data: { b: '1' } }],
    ['apply', 'user', { data: { a: '1' } }, { has: { 'data.b': '1' } }],
    ['force', 'controller', { data: { b: '9' } }, { has: { 'data.b': '9' } }],
    [
      'apply',
      'keeper',
      {},
      { has: { 'data.b': '9' }, owners: ['controller Apply data.b', 'user Apply data.a'] },
    ],
  ],
  [
    'a field is handed over if both apply it and one leaves it out',
    ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
    ['apply', 'two', { data: { a: '1' } }],
    ['apply', 'one', {}, { has: { 'data.a': '1' }, owners: ['two Apply data.a'] }],
  ],
  ...(['merge', 'strategic', 'json', 'PUT'] as const).map((how): [string, ...Line[]] => {
    const written = (managedFields: unknown): unknown =>
      how === 'json'
        ? [{ op: 'replace', path: '/metadata/managedFields', value: managedFields }]
        : { metadata: { managedFields }, ...(how === 'PUT' && { data: { a: '1' } }) }
    return [
      `an empty list of owners by ${how} is none, one empty entry removes them all`,
      ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
      [how, 'two', written([]), { owners: ['one Apply data.a'] }],
      [how, 'two', written([{}]), { owners: [], has: { 'data.a': '1' } }],
    ]
  }),
  [
    'what else a write that removes all owners changes is owned by its writer',
    ['apply', 'one', { data: { a: '1' } }, { status: 201 }],
    [
      'merge',
      'two',
      { metadata: { managedFields: [{}] }, data: { b: '2' } },
      { owners: ['two Update data.b'], has: { data: { a: '1', b: '2' } } },
    ],
  ],
  [
    'before-first-apply owns the fields of an object without owners from its first apply on',
    ['POST', 'one', { data: { a: '1' } }, { status: 201 }],
    ['merge', 'two', { metadata: { managedFields: [{}] } }, { owners: [] }],
    [
      'apply',
      'three',
      { data: { b: '1' } },
      { owners: ['three Apply data.b', 'before-first-apply Update data data.a'] },
    ],
  ],
  [
    'unknown fields are refused',
    [
      'apply',
      'one',
      { data: { a: '1' }, date: {} },
      {
        status: 500,
        message: 'failed to create typed patch object: .date: field not declared in schema',
      },
    ],
  ],
  [
    'a configuration of another version is rejected',
    [
      'apply',
      'one',
      { apiVersion: 'v2', data: {} },
      {
        status: 400,
        message:
          'Incorrect version specified in apply patch. Specified patch version: v2, expected: v1',
      },
    ],
  ],
]

for (const [index, [about, ...lines]] of conversations.entries()) {
  test(about, async () => {
    const name = `talk-${index}`
    for (const [how, as, body, wanted = {}, query] of lines) {
      const partial = (body ?? {}) as { metadata?: object; data?: object }
      const whole =
        body === undefined || how === 'merge' || how === 'strategic' || how === 'json'
          ? body
          : { ...map(name), ...partial, metadata: { name, ...partial.metadata } }
      const path = how === 'POST' ? maps : `${maps}/${name}`
      const said = { method: how, path, as, body: whole, ...(query && { query }) }
      judge(await say(server, said), wanted, `${how} as ${as}`)
    }
  })
}

test('an entry says who, how, in which version, when, and what', async () => {
  const path = `${maps}/entry`
  const body = map('entry', { a: '1' })
  const { body: made } = await say(server, { method: 'apply', path, as: 'one', body })
  const [{ time, ...entry }] = made.metadata.managedFields
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(entry, {
    manager: 'one',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {} } },
  })
  const order = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1']
  assert.deepEqual(Object.keys(made.metadata.managedFields[0]), order)
})

test('the same apply again changes nothing, not even the version', async () => {
  const again = () =>
    say(server, { method: 'apply', path: `${sets}/again`, as: 'one', body: deployment('again') })
  const { body: made } = await again()
  assert.deepEqual((await again()).body, made)
})

test('YAML is what it says, and JSON is YAML', async () => {
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const path = `${maps}/yaml?fieldManager=one`
  // The body is sent as JSON text of a string: a YAML scalar, which is no object.
  const scalar = await server.ask('PATCH', path, 'a: b', headers)
  assert.equal(scalar.status, 400)
  assert.match(scalar.body.message, /^error decoding YAML: .*cannot unmarshal string into Go value/)
  assert.equal((await server.ask('PATCH', path, map('yaml', { a: '1' }), headers)).status, 201)
})

/** A deployment that a manager applies in steps. */
const inSteps: [about: string, ...steps: [as: string, body: object, wanted: Wanted][]][] = [
  [
    'a field without owners gets its default again',
    ['one', deployment('s0', { replicas: 3 }), { status: 201, has: { 'spec.replicas': 3 } }],
    ['one', deployment('s0'), { has: { 'spec.replicas': 1 } }],
  ],
  [
    'items of a list with keys are owned one by one, those of another list all together',
    [
      'one',
      deployment('s1', {}, [container('c', { args: ['a'], ports: [{ containerPort: 80 }] })]),
      { status: 201 },
    ],
    [
      'two',
      deployment('s1', {}, [container('d'), container('c', { ports: [{ containerPort: 81 }] })]),
      {
        has: {
          'spec.template.spec.containers.0.name': 'd',
          'spec.template.spec.containers.1.ports.length': 2,
        },
      },
    ],
    [
      'two',
      deployment('s1', {}, [container('d'), container('c', { args: ['b'] })]),
      {
        status: 409,
        message:
          'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="c"].args',
      },
    ],
  ],
  [
    'items that have the same key are refused',
    [
      'one',
      deployment('s2', {}, [container('c'), container('c')]),
      {
        status: 500,
        message:
          'failed to create typed patch object: .spec.template.spec.containers: duplicate entries for key [name="c"]',
      },
    ],
  ],
  [
    'a map that is atomic is owned whole',
    ['one', deployment('s3'), { status: 201 }],
    [
      'two',
      deployment('s3', { selector: { matchLabels: { app: 'a', b: 'c' } } }),
      { status: 409, message: 'Apply failed with 1 conflict: conflict with "one": .spec.selector' },
    ],
  ],
]
for (const [about, ...steps] of inSteps) {
  test(about, async () => {
    for (const [as, body, wanted] of steps) {
      const { name } = (body as { metadata: { name: string } }).metadata
      judge(await say(server, { method: 'apply', path: `${sets}/${name}`, as, body }), wanted, as)
    }
  })
}

test('a configuration in another version takes away what was applied in the first', async () => {
  const scaler = (version: string, spec: object) => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'versions', labels: { [version]: 'x' } },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' }, ...spec },
  })
  const step = (version: string, spec: object, wanted: Wanted) =>
    say(server, {
      method: 'apply',
      path: `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/versions`,
      as: 'one',
      body: scaler(version, spec),
    }).then((answer) => judge(answer, wanted, version))
  await step('v2beta2', { minReplicas: 2 }, { status: 201, has: { 'spec.minReplicas': 2 } })
  await step('v2beta1', {}, { has: { 'metadata.labels': { v2beta1: 'x' }, 'spec.minReplicas': 1 } })
  await step('v1', {}, { has: { 'metadata.labels': { v1: 'x' }, 'spec.maxReplicas': 3 } })
})

const badTime = {
  status: { conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: 'now' }] },
}
const unreadTime = (version: string) =>
  `unable to convert unstructured object to autoscaling/${version}, Kind=HorizontalPodAutoscaler: parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"`

/** Lines about one autoscaler: where, how, as whom, what it says, and what must come of it. */
type VersionLine = [at: string, how: Said['method'], as: string, body: object, wanted: Wanted]
const target = { kind: 'Deployment', name: 'd' }
const acrossVersions: [about: string, ...lines: VersionLine[]][] = [
  [
    'what is empty is absent in another version, and removed there rather than changed',
    [
      'v2beta1',
      'POST',
      'two',
      { spec: { maxReplicas: 3, scaleTargetRef: target } },
      { status: 201 },
    ],
    [
      'v2beta2',
      'apply',
      'one',
      { spec: { maxReplicas: 3, scaleTargetRef: target, metrics: [] } },
      {
        owners: [
          'one Apply spec.maxReplicas spec.metrics spec.scaleTargetRef.kind spec.scaleTargetRef.name',
          'two Update spec.maxReplicas spec.minReplicas spec.scaleTargetRef.kind spec.scaleTargetRef.name',
        ],
      },
    ],
    [
      'v2beta2/status',
      'apply',
      'three',
      badTime,
      { status: 500, message: `failed to convert new object: ${unreadTime('v2beta2')}` },
    ],
  ],
  [
    'fields that every object of a version has are not removed in another version',
    [
      'v2beta2',
      'apply',
      'one',
      { spec: { maxReplicas: 3, scaleTargetRef: target } },
      { status: 201 },
    ],
    [
      'v2beta1',
      'apply',
      'one',
      { spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment' } } },
      {
        has: { 'spec.scaleTargetRef.name': 'd' },
        owners: ['one Apply spec.maxReplicas spec.scaleTargetRef.kind'],
      },
    ],
    [
      'v2beta1/status',
      'apply',
      'three',
      badTime,
      {
        status: 500,
        message: `failed to convert new object to proper version: ${unreadTime('v2beta1')}`,
      },
    ],
    [
      'v2beta2/status',
      'apply',
      'three',
      { status: { currentReplicas: 1, desiredReplicas: 1, conditions: [] } },
      {},
    ],
    [
      'v2beta1/status',
      'apply',
      'three',
      badTime,
      {
        status: 500,
        message: `failed to prune fields: failed to convert merged object to last applied version: ${unreadTime('v2beta1')}`,
      },
    ],
  ],
]

for (const [index, [about, ...lines]] of acrossVersions.entries()) {
  test(about, async () => {
    const name = `across-${index}`
    for (const [at, method, as, said, wanted] of lines) {
      const [version, part] = at.split('/')
      const list = `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
      const path = method === 'POST' ? list : `${list}/${name}${part ? `/${part}` : ''}`
      const head = { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler' }
      const body = { ...head, metadata: { name }, ...said }
      judge(await say(server, { method, path, as, body }), wanted, `${method} ${at} as ${as}`)
    }
  })
}

test('a list that is empty in one version is not nothing in another', async () => {
  const at = (version: string) =>
    `/apis/discovery.k8s.io/${version}/namespaces/default/endpointslices`
  const body = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'empty' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'] }],
    ports: [{ port: 80 }],
  }
  await say(server, { method: 'POST', path: at('v1'), as: 'one', body })
  const steps: [method: Said['method'], version: string, ports: null | [], owner: string][] = [
    ['merge', 'v1beta1', null, 'two Update ports'],
    ['strategic', 'v1', [], 'three Update ports'],
    ['merge', 'v1beta1', [], 'two Update ports'],
  ]
  for (const [method, version, ports, owner] of steps) {
    const [as] = owner.split(' ')
    const said = { method, path: `${at(version)}/empty`, as, body: { ports } }
    judge(
      await say(server, said),
      { has: { ports: null }, owners: ['one Update addressType endpoints', owner] },
      `${method} in ${version}`,
    )
  }
})

test('a list that is applied empty in one version is empty still in the next', async () => {
  const list = '/apis/discovery.k8s.io'
  const steps: [version: string, as: string, said: object, wanted: Wanted][] = [
    ['v1', 'one', { addressType: 'IPv4', ports: [] }, { status: 201 }],
    ['v1', 'two', { addressType: 'IPv4', ports: null, endpoints: null }, {}],
    [
      'v1beta1',
      'one',
      { ports: [] },
      { status: 409, causes: ['FieldManagerConflict .ports: conflict with "two"'] },
    ],
  ]
  for (const [version, as, said, wanted] of steps) {
    const path = `${list}/${version}/namespaces/default/endpointslices/applied-empty`
    const head = { apiVersion: `discovery.k8s.io/${version}`, kind: 'EndpointSlice' }
    const body = { ...head, metadata: { name: 'applied-empty' }, ...said }
    const method = wanted.status === 409 ? 'apply' : 'force'
    judge(await say(server, { method, path, as, body }), wanted, version)
  }
})

test('the status of a service that is not there makes one, without an address', async () => {
  const path = '/api/v1/namespaces/default/services/by-status/status'
  const body = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'by-status' },
    status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
  }
  const wanted: [spec: object, Wanted][] = [
    [
      {},
      {
        status: 422,
        message: 'Service "by-status" is invalid: spec.ports: Required value',
      },
    ],
    [{ ports: [{ port: 1 }] }, { status: 201, has: { 'status.loadBalancer': {} } }],
    [{}, { has: { 'spec.clusterIP': undefined, 'status.loadBalancer': body.status.loadBalancer } }],
  ]
  for (const [spec, must] of wanted)
    judge(
      await say(server, { method: 'apply', path, as: 'one', body: { ...body, spec } }),
      must,
      '',
    )
})

test('status and scale are applied to by themselves, and kept apart', async () => {
  const path = `${sets}/parts`
  await say(server, { method: 'apply', path, as: 'one', body: deployment('parts') })
  const status = { ...deployment('parts'), status: { replicas: 2 } }
  judge(
    await say(server, { method: 'apply', path: `${path}/status`, as: 'one', body: status }),
    { has: { 'status.replicas': 2, 'metadata.managedFields.1.subresource': 'status' } },
    'status',
  )
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'parts' },
    spec: { replicas: 5 },
  }
  const scaled = { method: 'force', path: `${path}/scale`, as: 'scaler', body: scale } as const
  judge(await say(server, scaled), { has: { 'spec.replicas': 5 }, owners: [] }, 'scale')
  const { body } = await say(server, { method: 'GET', path })
  assert.equal(body.spec.replicas, 5)
  assert.equal(body.metadata.managedFields.length, 3)
})

test('what does not take the object itself tracks nothing', async () => {
  const pods = '/api/v1/namespaces/default/pods'
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await server.ask('POST', accounts, { metadata: { name: 'default' } })
  const pod = { metadata: { name: 'bound' }, spec: { containers: [container('c')] } }
  const { body: made } = await server.ask('POST', pods, pod)
  const binding = { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } }
  assert.equal((await server.ask('POST', `${pods}/bound/binding`, binding)).status, 201)
  const { body } = await server.ask('GET', `${pods}/bound`)
  assert.equal(body.spec.nodeName, 'n')
  assert.deepEqual(body.metadata.managedFields, made.metadata.managedFields)
})

test('from client-side apply to server-side apply and back', async () => {
  const path = `${maps}/upgraded`
  const last = map('upgraded', { a: '1', b: '1' })
  const annotated = map('upgraded', last.data, {
    annotations: { [annotation]: JSON.stringify(last) },
  })
  await say(server, {
    method: 'POST',
    path: maps,
    as: 'kubectl-client-side-apply',
    body: annotated,
  })
  await say(server, { method: 'merge', path, as: 'stranger', body: { data: { b: '2' } } })
  const step = (as: string, data: object, wanted: Wanted) =>
    say(server, { method: 'apply', path, as, body: map('upgraded', data) }).then((answer) =>
      judge(answer, wanted, `${as} ${JSON.stringify(data)}`),
    )
  // Another name opts out, and what client-side apply does not manage is no part of the bargain.
  await step('other', { a: '2' }, { status: 409, message: /"kubectl-client-side-apply" using v1/ })
  await step('kubectl', { b: '3' }, { status: 409, message: /conflict with "stranger" using v1/ })
  await step('kubectl', { a: '2' }, { has: { 'data.a': '2', 'data.b': '2' } })
  const { body } = await server.ask('GET', path)
  const kept = JSON.parse(body.metadata.annotations[annotation])
  assert.deepEqual(kept, { ...map('upgraded', { a: '2' }) })
})

const group = 'apply.example.com'
const things = (plural: string) => `/apis/${group}/v1/namespaces/default/${plural}/t`
async function define(plural: string, kind: string, list: object): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const spec = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { list: { type: 'array', ...list } },
  }
  const versions = (s: object) => [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: s } } },
    },
  ]
  const made = await server.ask('POST', definitions, {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: versions(spec) },
  })
  if (made.status === 409) {
    const change = { spec: { versions: versions(spec) } }
    const path = `${definitions}/${plural}.${group}`
    const { status } = await say(server, { method: 'merge', path, body: change })
    assert.equal(status, 200)
  }
}

const strings = { items: { type: 'string' } }
const byKey = (more: object = {}) => ({
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, value: { type: 'object', ...more } },
  },
})
const granular = { additionalProperties: { type: 'string' } }

/** A custom list or map and what two managers make of it. */
const custom: [plural: string, list: object, one: unknown[], two: unknown[], Wanted][] = [
  ['atomics', strings, ['a'], ['b'], { status: 409, message: /"one": \.spec\.list$/ }],
  [
    'explicits',
    { ...strings, 'x-kubernetes-list-type': 'atomic' },
    ['a'],
    ['b'],
    { status: 409, message: /"one": \.spec\.list$/ },
  ],
  [
    'listsets',
    { ...strings, 'x-kubernetes-list-type': 'set' },
    ['a'],
    ['b'],
    {
      has: { 'spec.list': ['a', 'b'] },
      owners: ['one Apply spec.list["a"]', 'two Apply spec.list["b"]'],
    },
  ],
  [
    'keyeds',
    byKey(granular),
    [{ name: 'a', value: { x: '1' } }],
    [{ name: 'a', value: { y: '1' } }],
    { has: { 'spec.list': [{ name: 'a', value: { x: '1', y: '1' } }] } },
  ],
  [
    'wholes',
    byKey({ ...granular, 'x-kubernetes-map-type': 'atomic' }),
    [{ name: 'a', value: { x: '1' } }],
    [{ name: 'a', value: { y: '1' } }],
    { status: 409, message: /"one": \.spec\.list\[name="a"\]\.value$/ },
  ],
  [
    'granulars',
    byKey({ ...granular, 'x-kubernetes-map-type': 'granular' }),
    [{ name: 'a', value: { x: '1' } }],
    [{ name: 'a', value: { y: '1' } }],
    { has: { 'spec.list': [{ name: 'a', value: { x: '1', y: '1' } }] } },
  ],
]

async function settled(path: string): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if ((await server.ask('GET', path.slice(0, -2))).status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

for (const [plural, list, one, two, wanted] of custom) {
  test(`the markers of ${plural} say who owns what`, async () => {
    const kind = plural[0]?.toUpperCase() + plural.slice(1, -1)
    await define(plural, kind, list)
    const path = things(plural)
    await settled(path)
    const body = (items: unknown[]) => ({
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name: 't' },
      spec: { list: items },
    })
    judge(
      await say(server, { method: 'apply', path, as: 'one', body: body(one) }),
      { status: 201 },
      'one',
    )
    judge(await say(server, { method: 'apply', path, as: 'two', body: body(two) }), wanted, 'two')
  })
}

test('what has no schema is a structure of its keys, with lists that are owned whole', async () => {
  await define('frees', 'Free', strings)
  const path = things('frees')
  await settled(path)
  const body = (free: object) => ({
    apiVersion: `${group}/v1`,
    kind: 'Free',
    metadata: { name: 't' },
    spec: { free },
  })
  const step = async (as: string, free: object, wanted: Wanted) =>
    judge(await say(server, { method: 'apply', path, as, body: body(free) }), wanted, as)
  await step(
    'one',
    { a: { b: [1] } },
    { status: 201, owners: ['one Apply spec.free spec.free.a spec.free.a.b'] },
  )
  await step('two', { a: { c: 1 } }, { has: { 'spec.free.a': { b: [1], c: 1 } } })
  await step('two', { a: { b: [2] } }, { status: 409, message: /"one": \.spec\.free\.a\.b$/ })
})

/** Two versions that say of the same fields what each of them means. */
async function defineTwo(plural: string, kind: string, first: object, second: object) {
  const version = (name: string, properties: object) => {
    const spec = { type: 'object', properties }
    const openAPIV3Schema = { type: 'object', properties: { spec } }
    return { name, served: true, storage: name === 'v1', schema: { openAPIV3Schema } }
  }
  const versions = [version('v1', first), version('v2', second)]
  const { status } = await server.ask(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural, kind }, versions },
    },
  )
  assert.equal(status, 201)
  await settled(things(plural))
  return (at: string, method: Said['method'], as: string, spec: object | undefined) => {
    const path = things(plural).replace('/v1/', `/${at}/`)
    const header = { apiVersion: `${group}/${at}`, kind, metadata: { name: 't' } }
    return say(server, { method, path, as, body: { ...header, ...(spec && { spec }) } })
  }
}

test('nothing is something in every version of what has no schema', async () => {
  const free = { a: { 'x-kubernetes-preserve-unknown-fields': true } }
  const step = await defineTwo('nothings', 'Nothing', free, free)
  judge(await step('v1', 'apply', 'one', { a: {} }), { status: 201 }, 'one')
  judge(
    await step('v2', 'apply', 'two', { a: null }),
    { status: 409, causes: ['FieldManagerConflict .spec.a: conflict with "one"'] },
    'two',
  )
})

test('an apply that changes nothing does not bring in the defaults of its version', async () => {
  const count = { type: 'integer', default: 3 }
  const first = { type: 'array', items: { type: 'string' } }
  const second = { type: 'object', properties: { count } }
  const step = await defineTwo('untoucheds', 'Untouched', { a: first }, { a: second })
  judge(
    await step('v2', 'apply', 'one', { a: { count: 2 } }),
    { status: 201, has: { 'spec.a': {} } },
    'as it is made',
  )
  judge(
    await step('v2', 'apply', 'two', undefined),
    { has: { 'spec.a': {}, 'metadata.generation': 1 } },
    'as it is stored',
  )
})

test('when a list becomes atomic its owners own it whole; the other way there is no conflict', async () => {
  const path = things('turns')
  const body = (...list: string[]) => ({
    apiVersion: `${group}/v1`,
    kind: 'Turn',
    metadata: { name: 't' },
    spec: { list },
  })
  const step = (as: string, ...list: string[]) =>
    say(server, { method: 'apply', path, as, body: body(...list) })
  const turnedTo = async (type: string, isSo: () => Promise<boolean>) => {
    await define('turns', 'Turn', { ...strings, 'x-kubernetes-list-type': type })
    await settled(path)
    for (let i = 0; i < 2000 && !(await isSo()); i++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const dry = async (as: string, ...list: string[]) =>
    say(server, { method: 'apply', path, as, body: body(...list), query: 'dryRun=All' })
  await turnedTo('set', async () => true)
  judge(await step('one', 'a'), { status: 201, owners: ['one Apply spec.list["a"]'] }, 'a set')
  await turnedTo('atomic', async () => (await dry('two', 'b')).status === 409)
  judge(await step('two', 'b'), { status: 409, message: /"one": \.spec\.list$/ }, 'atomic')
  judge(await step('one', 'a', 'c'), { owners: ['one Apply spec.list'] }, 'atomic')
  await turnedTo('set', async () => (await dry('two', 'b')).status === 200)
  judge(await step('two', 'b'), { has: { 'spec.list': ['a', 'c', 'b'] } }, 'a set again')
})
