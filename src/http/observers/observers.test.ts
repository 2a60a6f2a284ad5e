import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiError } from '#api/status-error.ts'
import { systemClock } from '#base/clock.ts'
import type { Exchange } from '#http/exchange.ts'
import { parseTarget } from '#http/request/request-target.ts'
import type { Kind } from '#kinds/kind.ts'
import type { KnownTypes } from '#kinds/known-type.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { AuditEvent } from '#observe/audit/event.ts'
import { type Policy, readPolicy } from '#observe/audit/policy.ts'
import { Registry } from '#observe/metrics/registry.ts'
import { serverMetrics } from '#observe/metrics/server-metrics.ts'
import { auditObserver } from './audit.ts'
import { inFlightObserver } from './in-flight.ts'
import { InFlightMark } from './in-flight-mark.ts'
import { userLabel } from './instruments.ts'
import { MetricsObserver } from './metrics.ts'
import { dryRunLabel, reportedVerb, scopeOf } from './request-place.ts'
import { sourceAddresses } from './source-addresses.ts'
import { requestLog } from './request-log.ts'

function exchangeOf(method: string, url: string, more: object = {}): Exchange {
  const [path, search = ''] = url.split('?')
  const query = new URLSearchParams(search)
  return {
    wire: { method, url, headers: {}, remoteAddress: '10.0.0.9' },
    query,
    target: parseTarget(method, path, query),
    auditId: 'id',
    startedAt: 0,
    user: { name: 'joe', uid: '', groups: [], extra: {} },
    warnings: [],
    auditAnnotations: new Map(),
    status: 200,
    answeredBytes: 10,
    ...more,
  } as unknown as Exchange
}

const places: [string, string, string, string][] = [
  // method  path                                           verb      scope
  ['GET', '/api/v1/namespaces/a/pods/p', 'GET', 'resource'],
  ['GET', '/api/v1/namespaces/a/pods', 'LIST', 'namespace'],
  ['GET', '/api/v1/pods', 'LIST', 'cluster'],
  ['GET', '/api/v1/pods?watch=1', 'WATCH', 'cluster'],
  ['GET', '/api/v1/watch/namespaces/a/pods', 'WATCH', 'namespace'],
  ['POST', '/api/v1/namespaces/a/pods', 'POST', 'resource'],
  ['DELETE', '/api/v1/namespaces/a/pods', 'DELETE', 'namespace'],
  ['BREW', '/api/v1/namespaces/a/pods/p', 'other', 'resource'],
  ['GET', '/healthz', 'GET', ''],
]
for (const [method, url, verb, scope] of places) {
  test(`${method} ${url} is ${verb} of ${scope || 'no'} scope`, () => {
    const exchange = exchangeOf(method, url)
    assert.deepEqual(
      [reportedVerb(exchange, scopeOf(exchange.target)), scopeOf(exchange.target)],
      [verb, scope],
    )
  })
}

test('dry runs, users and addresses as labels', () => {
  assert.deepEqual(
    ['', '?dryRun=All', '?dryRun=All&dryRun=All', '?dryRun=x'].map((q) =>
      dryRunLabel(exchangeOf('POST', `/api${q}`)),
    ),
    ['', 'All', 'All', 'invalid'],
  )
  assert.deepEqual(['admin', 'a@b.c', 'joe'].map(userLabel), ['admin', 'email_id', 'other'])
  const wire = {
    headers: { 'x-forwarded-for': '1.2.3.4, nonsense, 5.6.7.8' },
    remoteAddress: '::ffff:10.0.0.9',
  }
  assert.deepEqual(sourceAddresses(wire as never), ['1.2.3.4', '5.6.7.8', '10.0.0.9'])
})

test('routed requests are counted, deprecated ones are marked', async () => {
  const registry = new Registry({ release: 22 })
  const observer = new MetricsObserver(serverMetrics(registry, 22), () => 70)
  const kind = {
    group: 'batch',
    version: 'v1beta1',
    plural: 'cronjobs',
    deprecation: { warning: '', removedRelease: '1.25' },
  } as Kind
  observer.end(exchangeOf('GET', '/apis/batch/v1beta1/cronjobs', { kind }))
  observer.end(exchangeOf('GET', '/apis/batch/v1beta1/cronjobs', { kind: undefined, status: 403 }))
  observer.end(exchangeOf('GET', '/readyz'))
  const refusal = new ApiError(403, 'Forbidden', 'no')
  observer.end(exchangeOf('GET', '/readyz/made-up', { refusal, status: 403 }))
  const page = await registry.page()
  const place = 'group="batch",version="v1beta1",resource="cronjobs",subresource=""'
  assert.match(
    page,
    new RegExp(
      `apiserver_request_total{verb="LIST",dry_run="",${place},scope="cluster",component="apiserver",code="200"} 1`,
    ),
  )
  assert.match(
    page,
    new RegExp(`apiserver_requested_deprecated_apis{${place},removed_release="1.25"} 1`),
  )
  assert.match(
    page,
    /apiserver_request_duration_seconds_bucket{verb="LIST",[^}]*le="0.05"} 0\n[^\n]*le="0.1"} 1/,
  )
  assert.match(page, /subresource="\/readyz"[^}]*code="200"} 1/)
  assert.doesNotMatch(page, /code="403"/)
})

test('a watch is counted as running until it ends', async () => {
  const registry = new Registry({ release: 22 })
  const observer = new MetricsObserver(serverMetrics(registry, 22), () => 0)
  const kind = { group: '', version: 'v1', plural: 'pods' } as Kind
  const watch = exchangeOf('GET', '/api/v1/pods?watch=1', { kind })
  const line = async () =>
    /apiserver_longrunning_gauge{verb="WATCH"[^}]*} (\d)/.exec(await registry.page())?.[1]
  observer.begin(watch)
  assert.equal(await line(), '1')
  observer.end(watch)
  observer.end(watch)
  assert.equal(await line(), '0')
})

test('a request without a route leaves no metric behind', async () => {
  const registry = new Registry({ release: 22 })
  const observer = new MetricsObserver(serverMetrics(registry, 22), () => 0)
  const subresources = new Map()
  const kind = { group: '', version: 'v1', plural: 'pods', subresources } as unknown as Kind
  const made = [
    exchangeOf('GET', '/apis/made-up.io/v1/things?watch=1', { status: 404 }),
    exchangeOf('GET', '/debug/pprof/made-up', { status: 404 }),
    exchangeOf('GET', '/api/v1/namespaces/a/pods/p/made-up', { kind, status: 404 }),
    exchangeOf('GET', '/api/v1/watch/namespaces/a/pods/p/made-up', { kind, status: 404 }),
  ]
  for (const exchange of made) {
    observer.begin(exchange)
    observer.end(exchange)
  }
  assert.doesNotMatch(await registry.page(), /made-up/)
  // A running request is counted even if another one was rejected before its route was known.
  const [running, refused] = [0, 1].map(() => exchangeOf('GET', '/api/v1/pods?watch=1'))
  observer.begin(running)
  observer.begin(refused)
  observer.end(refused)
  assert.match(await registry.page(), /apiserver_longrunning_gauge{verb="WATCH"[^}]*} 1/)
})

test('requests over the limit are rejected with a Retry-After; watches and masters are not counted', async () => {
  const registry = new Registry({ release: 19 })
  const metrics = serverMetrics(registry, 19)
  const { begin, end } = inFlightObserver(
    { readOnly: 1, mutating: 1 },
    new InFlightMark(registry, metrics.inFlight),
    metrics,
    () => 0,
  )
  const first = exchangeOf('GET', '/api/v1/pods')
  begin?.(first)
  assert.throws(
    () => begin?.(exchangeOf('GET', '/api/v1/pods')),
    (error) =>
      error instanceof ApiError && error.code === 429 && error.details?.retryAfterSeconds === 1,
  )
  const long = 'x'.repeat(300)
  for (const path of [`/${long}`, `/apis/${long}/v1/${long}`])
    assert.throws(() => begin?.(exchangeOf('GET', path)))
  const page = await registry.page()
  assert.match(page, /terminations_total{verb="LIST",group="",version="v1",resource="pods"/)
  assert.match(
    page,
    /terminations_total{verb="GET",group="",version="",resource="",subresource="unexpected"/,
  )
  assert.doesNotMatch(page, /xxx/)
  begin?.(exchangeOf('GET', '/api/v1/pods?watch=1'))
  begin?.(exchangeOf('POST', '/api/v1/namespaces/a/pods'))
  begin?.(
    exchangeOf('GET', '/api/v1/pods', {
      user: { name: 'root', uid: '', groups: ['system:masters'], extra: {} },
    }),
  )
  end?.(first)
  end?.(first)
  begin?.(exchangeOf('GET', '/api/v1/pods'))
})

test('stages, status and annotations of an audit event; below the Request level secrets have no data', async () => {
  const events: AuditEvent[] = []
  const metrics = serverMetrics(new Registry({ release: 22 }), 22)
  const policy = policyOf([
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] },
    { level: 'Request' },
  ])
  const sinks = [{ take: (event: AuditEvent) => void events.push(event), close: async () => {} }]
  const observer = auditObserver({
    policy,
    sinks,
    metrics,
    seesWatchesBegin: false,
    release: releaseOf(22),
    server: () => ({ parseStored: () => ({}) as never, clock: systemClock, release: 22 }),
    now: () => 0,
    report: assert.fail,
  })
  const patched = 'patch.webhook.admission.k8s.io/round_0_index_0'
  for (const resource of ['secrets', 'configmaps']) {
    const kind = {
      kind: 'X',
      apiVersion: 'v1',
      conform: (object: object) => ({ object, unknown: [] }),
      applyDefaults: (object: { immutable?: boolean }) => {
        object.immutable = false
      },
    } as unknown as Kind
    const exchange = exchangeOf('POST', `/api/v1/namespaces/a/${resource}`, {
      kind,
      body: Buffer.from('{"metadata":{"name":"n","uid":"u"},"data":{"k":"v"}}'),
    })
    observer.begin?.(exchange)
    exchange.auditAnnotations.set('authorization.k8s.io/decision', 'allow')
    exchange.auditAnnotations.set(patched, '{}')
    observer.end?.(exchange)
  }
  const refused = exchangeOf('GET', '/api/v1/pods', {
    status: 401,
    refusal: new ApiError(401, 'Unauthorized', 'Unauthorized'),
  })
  observer.end?.(refused)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    events.map(({ stage, objectRef, requestObject }) => [
      objectRef?.resource,
      stage,
      requestObject,
    ]),
    [
      ['secrets', 'RequestReceived', undefined],
      ['secrets', 'ResponseComplete', undefined],
      ['configmaps', 'RequestReceived', undefined],
      ['pods', 'ResponseStarted', undefined],
      [
        'configmaps',
        'ResponseComplete',
        '{"kind":"X","apiVersion":"v1","metadata":{"name":"n","uid":"u","creationTimestamp":null},"data":{"k":"v"},"immutable":false}',
      ],
    ],
  )
  const decision = { 'authorization.k8s.io/decision': 'allow' }
  assert.deepEqual(events[1].annotations, decision)
  assert.deepEqual(events[4].annotations, { ...decision, [patched]: '{}' })
  assert.deepEqual(events[3].responseStatus, {
    metadata: {},
    status: 'Failure',
    reason: 'Unauthorized',
    code: 401,
  })
  for (const at of [1, 4]) {
    const { name, uid } = events[at].objectRef ?? {}
    assert.deepEqual([name, uid], ['n', 'u'], 'what the body says of the object is told')
  }
})

test('the audit log has the user agent as sent, up to a limit', () => {
  const cases: [agent: string | string[] | undefined, expected: string | undefined][] = [
    [undefined, undefined],
    ['kubectl/v1', 'kubectl/v1'],
    [Buffer.from('jürgen/1').toString('latin1'), 'jürgen/1'],
    [['first', 'second'], 'first'],
    ['x'.repeat(1025), `${'x'.repeat(1024)}...TRUNCATED`],
  ]
  for (const [agent, expected] of cases) {
    const { events, observer } = recording([{ level: 'Metadata' }])
    const from = { url: '/api/v1/pods', remoteAddress: '10.0.0.9' }
    const wire = { ...from, headers: { 'user-agent': agent } }
    observer.begin?.(exchangeOf('GET', '/api/v1/pods', { wire }))
    assert.equal(events[0].userAgent, expected)
  }
})

test('a rejected long-running request has the stage ResponseStarted too', async () => {
  const { events, observer } = recording([{ level: 'RequestResponse' }])
  const exchange = exchangeOf('GET', '/api/v1/namespaces/a/pods/p/log', {
    refusal: new ApiError(404, 'NotFound', 'pods "p" not found'),
    status: 404,
  })
  observer.begin?.(exchange)
  observer.end?.(exchange)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    events.map(({ stage, responseObject }) => [stage, responseObject !== undefined]),
    [
      ['RequestReceived', false],
      ['ResponseStarted', true],
      ['ResponseComplete', true],
    ],
  )
})

test('a watch is recorded at its end since 1.16, and at its start before', async () => {
  const seen = { metadata: {}, code: 200 }
  const unseen = { ...seen, status: 'Success', message: 'Connection closed early' }
  for (const [seesWatchesBegin, early, status] of [
    [false, ['RequestReceived'], unseen],
    [true, ['RequestReceived', 'ResponseStarted'], seen],
  ] as const) {
    const { events, observer } = recording([{ level: 'Metadata' }], { seesWatchesBegin })
    const exchange = exchangeOf('GET', '/api/v1/pods?watch=true', { status: 200 })
    observer.begin?.(exchange)
    observer.started?.(exchange)
    assert.deepEqual(
      events.map(({ stage }) => stage),
      early,
    )
    observer.end?.(exchange)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(
      events.map(({ stage, responseStatus }) => [stage, responseStatus]),
      [
        ['RequestReceived', undefined],
        ['ResponseStarted', status],
        ['ResponseComplete', status],
      ],
    )
  }
})

const bodies: [
  what: string,
  verb: string,
  path: string,
  body: string,
  type: string,
  text: string | undefined,
][] = [
  [
    'a patch as it is',
    'PATCH',
    '/api/v1/namespaces/a/pods/p',
    '{ "a": 1 }',
    'application/merge-patch+json',
    '{"a":1}',
  ],
  [
    'an apply in YAML as JSON',
    'PATCH',
    '/api/v1/namespaces/a/pods/p',
    'a: 1',
    'application/apply-patch+yaml',
    '{"a":1}',
  ],
  [
    'delete options with apiVersion and kind',
    'DELETE',
    '/api/v1/namespaces/a/pods/p',
    '{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":true}',
    'application/json',
    '{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":true}',
  ],
  [
    'delete options of another group',
    'DELETE',
    '/api/v1/namespaces/a/pods/p',
    '{"kind":"DeleteOptions","apiVersion":"apps/v1","other":1,"preconditions":{}}',
    'application/json',
    '{"kind":"DeleteOptions","apiVersion":"apps/v1","preconditions":{}}',
  ],
  [
    'delete options of an unknown group are left out',
    'DELETE',
    '/api/v1/namespaces/a/pods/p',
    '{"kind":"DeleteOptions","apiVersion":"other/v1"}',
    'application/json',
    undefined,
  ],
  [
    'delete options of a collection are of its version',
    'DELETE',
    '/api/v1/namespaces/a/pods',
    '{"gracePeriodSeconds":0}',
    'application/json',
    '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}',
  ],
  [
    'delete options that do not are left out',
    'DELETE',
    '/api/v1/namespaces/a/pods/p',
    '{"orphanDependents":true}',
    'application/json',
    undefined,
  ],
  [
    'the body of a subresource is of its own kind',
    'POST',
    '/api/v1/namespaces/a/pods/p/binding',
    '{"target":{"name":"n"}}',
    'application/json',
    '{"kind":"Binding","apiVersion":"v1","metadata":{"creationTimestamp":null},"target":{"name":"n"}}',
  ],
  [
    'a body that cannot be decoded is left out',
    'POST',
    '/api/v1/pods',
    '{',
    'application/json',
    undefined,
  ],
]

const types: KnownTypes = {
  isVersion: (apiVersion) => apiVersion === 'apps/v1',
  typeNamed: () => undefined,
}
const deleteOptions = '{"orphanDependents":true}'
checkBoundaries(
  (release, path: string) => recordedBody(release, 'DELETE', path, deleteOptions),
  [
    [
      'options of one object in the audit log',
      [24, 25],
      '/api/v1/namespaces/a/pods/p',
      undefined,
      '{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/__internal","orphanDependents":true}',
    ],
    [
      'options of a collection in the audit log',
      [24, 25],
      '/api/v1/namespaces/a/pods',
      '{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":true}',
      '{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/__internal","orphanDependents":true}',
    ],
  ],
)

for (const [what, method, path, body, type, text] of bodies) {
  test(`audit: ${what}`, async () =>
    assert.equal(await recordedBody(22, method, path, body, type), text))
}

/** The request object in the last record of a request. */
async function recordedBody(
  release: number,
  method: string,
  path: string,
  body: string,
  type = 'application/json',
): Promise<string | undefined> {
  const { events, observer } = recording([{ level: 'Request' }], { release })
  const kind = {
    kind: 'Pod',
    apiVersion: 'v1',
    origin: 'built-in',
    formats: new Set(['json', 'yaml', 'protobuf']),
    decoding: 'typed',
    subresources: new Map(),
  }
  const exchange = exchangeOf(method, path, {
    kind: kind as never,
    body: Buffer.from(body),
    types,
  })
  Object.assign(exchange.wire.headers, { 'content-type': type })
  observer.begin?.(exchange)
  observer.end?.(exchange)
  await new Promise((resolve) => setImmediate(resolve))
  return events.at(-1)?.requestObject
}

const error = new ApiError(409, 'AlreadyExists', 'x already exists', { name: 'x', kind: 'pods' })
const notAcceptable = new ApiError(406, 'NotAcceptable', 'only these', {})
const failure = { metadata: {}, status: 'Failure' }
checkBoundaries(
  async (release, code: number) => {
    const { events, observer } = recording([{ level: 'RequestResponse' }], { release })
    const exchange = exchangeOf('GET', '/api/v1/pods/x', { status: code })
    observer.begin?.(exchange)
    exchange.refusal = code === 409 ? error : notAcceptable
    observer.end?.(exchange)
    await new Promise((resolve) => setImmediate(resolve))
    const { responseStatus, responseObject } = events.at(-1) as AuditEvent
    return [responseStatus, responseObject !== undefined]
  },
  [
    [
      'an error in the audit log',
      [23, 24],
      409,
      [{ ...failure, reason: 'AlreadyExists', code: 409 }, true],
      [
        {
          ...failure,
          message: 'x already exists',
          reason: 'AlreadyExists',
          details: { name: 'x', kind: 'pods' },
          code: 409,
        },
        true,
      ],
    ],
    [
      'a 406 in the audit log',
      [23, 24],
      406,
      [{ metadata: {}, code: 406 }, false],
      [{ metadata: {}, code: 406 }, false],
    ],
  ],
)

test('a rejected impersonation is recorded from its beginning, a 401 is not', async () => {
  const { events, observer } = recording([{ level: 'Metadata' }])
  for (const code of [403, 401]) {
    const refusal = new ApiError(code, 'Reason', 'no')
    observer.end?.(exchangeOf('GET', '/api/v1/pods', { status: code, refusal }))
  }
  assert.deepEqual(
    events.map(({ stage, responseStatus }) => [stage, responseStatus?.code]),
    [
      ['RequestReceived', undefined],
      ['ResponseComplete', 403],
      ['ResponseStarted', 401],
    ],
  )
})

const policyOf = (rules: object[]): Policy =>
  readPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }, releaseOf(22)) as Policy

function recording(rules: object[], { seesWatchesBegin = false, release = 22 } = {}) {
  const events: AuditEvent[] = []
  const observer = auditObserver({
    policy: policyOf(rules),
    sinks: [{ take: (event: AuditEvent) => void events.push(event), close: async () => {} }],
    metrics: serverMetrics(new Registry({ release: 22 }), 22),
    seesWatchesBegin,
    release: releaseOf(release),
    server: () => ({ parseStored: () => ({}) as never, clock: systemClock, release }),
    now: () => 0,
    report: assert.fail,
  })
  return { events, observer }
}

test('the log gives the reason of a rejection, and never quotes the request', () => {
  const cases: [code: number, reason: string, message: string, reported: string][] = [
    [403, 'Forbidden', 'pods is forbidden', 'pods is forbidden'],
    [400, 'BadRequest', 'decode base64: ...|"data":{"a":"secret!"}|...', 'BadRequest'],
    [422, 'Invalid', 'Secret "s" is invalid: data[a b]: Invalid value: "a b"', 'Invalid'],
    [500, 'InternalError', 'cannot read {"data":"secret"}', 'InternalError'],
  ]
  for (const [code, reason, message, reported] of cases) {
    const heard: unknown[] = []
    const info = (_: string, { refusal }: { refusal?: unknown }) => void heard.push(refusal)
    const refusal = new ApiError(code, reason, message)
    const exchange = exchangeOf('POST', '/api/v1/namespaces/a/secrets', { status: code, refusal })
    requestLog({ verbosity: 4, info } as never, () => 0).end?.(exchange)
    assert.deepEqual(heard, [reported])
  }
})
