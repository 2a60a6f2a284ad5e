/**
 * Validating policies: which requests they match, the values of expressions, and the effect of
 * failures.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionRequest } from '#admission/admission.ts'
import { catalogOf, kindOf, requestOf } from '#admission/requests.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { configMap, constraints, creation, mapKind, Policies, rule } from './policies.suite.ts'

const denied = (why: string, code = '422 Invalid') =>
  `${code} configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: ${why}`
const failed = (text: string) => denied(`failed expression: ${text}`)
const ok = configMap({ k: 'ok' })

const one = (expression: string, more: Loose = {}) => ({ validations: [{ expression, ...more }] })

interface Case {
  readonly title: string
  readonly spec: Loose
  readonly expected: string
  readonly request?: AdmissionRequest
  readonly binding?: Loose
}

async function check({ spec, binding, request = creation(ok), expected }: Case, later = false) {
  const policies = new Policies('validating', 37, later).policy('p', spec).bind('p', binding)
  assert.equal(await policies.outcome(request), expected)
}

const cases: Case[] = [
  { title: 'a true expression', spec: one("object.data.k == 'ok'"), expected: 'admitted' },
  {
    title: 'a false one',
    spec: one("object.data.k == 'x'"),
    expected: failed("object.data.k == 'x'"),
  },
  {
    title: 'a message',
    spec: one('false', { message: ' no ' }),
    expected: denied('no'),
  },
  {
    title: 'a message expression before the message',
    spec: one('false', { message: 'no', messageExpression: "'not ' + object.data.k" }),
    expected: denied('not ok'),
  },
  {
    title: 'a message expression that fails',
    spec: one('false', { message: 'no', messageExpression: 'object.data.none' }),
    expected: denied('no'),
  },
  {
    title: 'a message of two lines',
    spec: one('false', { messageExpression: "'a\\nb'" }),
    expected: failed('false'),
  },
  {
    title: 'the first of several failures',
    spec: {
      validations: [{ expression: 'true' }, { expression: '1 > 2' }, { expression: 'false' }],
    },
    expected: failed('1 > 2'),
  },
  {
    title: 'a reason',
    spec: one('false', { reason: 'RequestEntityTooLarge', message: 'no' }),
    expected: denied('no', '413 RequestEntityTooLarge'),
  },
  {
    title: 'an error',
    spec: one('object.data.none == 1'),
    expected: denied("expression 'object.data.none == 1' resulted in error: no such key: none"),
  },
  {
    title: 'an error of a policy that fails open',
    spec: { ...one('object.data.none == 1'), failurePolicy: 'Ignore' },
    expected: 'admitted',
  },
  {
    title: 'a failure of a policy that fails open',
    spec: { ...one('false'), failurePolicy: 'Ignore' },
    expected: failed('false'),
  },
  {
    title: 'variables, each of which can read those before it',
    spec: {
      variables: [
        { name: 'k', expression: 'object.data.k' },
        { name: 'both', expression: "variables.k + '!'" },
      ],
      ...one("variables.both != 'ok!'"),
    },
    expected: failed("variables.both != 'ok!'"),
  },
  {
    title: 'a variable that fails, where it is read',
    spec: { variables: [{ name: 'x', expression: 'object.none' }], ...one('variables.x == 1') },
    expected: denied(
      `expression 'variables.x == 1' resulted in error: composited variable "x" fails to evaluate: no such key: none`,
    ),
  },
  {
    title: 'a variable that fails, where it is not read',
    spec: {
      variables: [{ name: 'x', expression: 'object.none' }],
      ...one('true || variables.x == 1'),
    },
    expected: 'admitted',
  },
  {
    title: 'the request',
    spec: one(
      "request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.namespace == 'ns' && request.userInfo.groups == ['system:masters'] && !request.dryRun && !has(request.subResource) && request.options.kind == 'CreateOptions'",
    ),
    expected: 'admitted',
  },
  {
    title: 'the namespace',
    spec: one(
      "namespaceObject.metadata.labels.team == 'a' && namespaceObject.status.phase == 'Active'",
    ),
    expected: 'admitted',
  },
  {
    title: 'no namespace in match conditions',
    spec: {
      matchConditions: [{ name: 'c', expression: 'namespaceObject == null' }],
      ...one('false'),
    },
    expected: failed('false'),
  },
  {
    title: 'no object before a creation',
    spec: one('oldObject == null'),
    expected: 'admitted',
  },
  {
    title: 'no object after a deletion',
    spec: one("object == null && oldObject.data.k == 'x'"),
    request: requestOf('DELETE', mapKind, undefined, { old: ok, name: 'c' }),
    expected: failed("object == null && oldObject.data.k == 'x'"),
  },
  {
    title: 'the authorizer and names',
    spec: one(
      "authorizer.group('').resource('pods').name('allowed').check('get').allowed() && !authorizer.group('').resource('pods').name('x').check('get').allowed()",
    ),
    expected: 'admitted',
  },
  {
    title: 'the authorizer of an account and of the request',
    spec: one(
      "authorizer.serviceAccount('ns', 'robot').path('/x').check('get').allowed() && authorizer.requestResource.check('get').reason() == 'because'",
    ),
    expected: 'admitted',
  },
  {
    title: 'conditions that do not hold',
    spec: { matchConditions: [{ name: 'c', expression: 'false' }], ...one('false') },
    expected: 'admitted',
  },
  {
    title: 'a condition that does not hold beside one that fails',
    spec: {
      matchConditions: [
        { name: 'c', expression: 'object.none == 1' },
        { name: 'd', expression: 'false' },
      ],
      ...one('false'),
    },
    expected: 'admitted',
  },
  {
    title: 'conditions that fail',
    spec: {
      matchConditions: [
        { name: 'c', expression: 'object.a == 1' },
        { name: 'd', expression: 'object.b == 1' },
      ],
      ...one('true'),
    },
    expected: denied(
      "[expression 'object.a == 1' resulted in error: no such key: a, expression 'object.b == 1' resulted in error: no such key: b]",
    ),
  },
  {
    title: 'conditions that fail, of a policy that fails open',
    spec: {
      failurePolicy: 'Ignore',
      matchConditions: [{ name: 'c', expression: 'object.a == 1' }],
      ...one('false'),
    },
    expected: 'admitted',
  },
  {
    title: 'an audit annotation that fails',
    spec: { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.none)' }] },
    binding: { validationActions: ['Audit'] },
    expected: denied("expression 'string(object.data.none)' resulted in error: no such key: none"),
  },
]
for (const row of cases) {
  test(row.title, () => check(row))
  if (row.title.includes('authorizer')) test(`${row.title}, with delay`, () => check(row, true))
}

const no = one('false')
const deployments = kindOf('apps/v1', 'deployments')
const scalers = kindOf('autoscaling/v1', 'horizontalpodautoscalers')
const scaler = {
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h', namespace: 'ns' },
  spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
}
const inV2beta2 = rule(['horizontalpodautoscalers'], ['autoscaling'], ['*'], ['v2beta2'])

/** The constraints of the policy, the request, and whether it is denied. */
const matches: [string, Loose, AdmissionRequest, boolean, Loose?][] = [
  ['all config maps', {}, creation(ok), true],
  ['another operation', { resourceRules: [rule(['*'], ['*'], ['UPDATE'])] }, creation(ok), false],
  ['any resource', { resourceRules: [rule(['*'], ['*'], ['*'], ['*'])] }, creation(ok), true],
  ['an excluded resource', { excludeResourceRules: [rule(['configmaps'])] }, creation(ok), false],
  [
    'a name',
    { resourceRules: [{ ...rule(['configmaps']), resourceNames: ['c'] }] },
    creation(ok),
    true,
  ],
  [
    'another name',
    { resourceRules: [{ ...rule(['configmaps']), resourceNames: ['d'] }] },
    creation(ok),
    false,
  ],
  [
    'cluster-scoped resources',
    { resourceRules: [{ ...rule(['*']), scope: 'Cluster' }] },
    creation(ok),
    false,
  ],
  ['labels of the object', { objectSelector: { matchLabels: { a: 'b' } } }, creation(ok), false],
  [
    'labels of the object',
    { objectSelector: { matchLabels: { a: 'b' } } },
    creation(configMap({}, { labels: { a: 'b' } })),
    true,
  ],
  [
    'labels of the namespace',
    { namespaceSelector: { matchLabels: { team: 'a' } } },
    creation(ok),
    true,
  ],
  [
    'labels of the namespace',
    { namespaceSelector: { matchLabels: { team: 'b' } } },
    creation(ok),
    false,
  ],
  [
    'a subresource',
    { resourceRules: [rule(['deployments/scale'], ['apps'])] },
    creation(ok, { subresource: 'scale' }, deployments),
    true,
  ],
  [
    'no subresource',
    { resourceRules: [rule(['deployments'], ['apps'])] },
    creation(ok, { subresource: 'scale' }, deployments),
    false,
  ],
  ['an equivalent version', { resourceRules: [inV2beta2] }, creation(scaler, {}, scalers), true],
  [
    'exactly a version',
    { resourceRules: [inV2beta2], matchPolicy: 'Exact' },
    creation(scaler, {}, scalers),
    false,
  ],
  [
    'a binding for all',
    {},
    creation(ok),
    true,
    { matchResources: constraints({ resourceRules: [] }) },
  ],
  [
    'a binding for pods',
    {},
    creation(ok),
    false,
    { matchResources: constraints({ resourceRules: [rule(['pods'])] }) },
  ],
  [
    'a binding for another namespace',
    {},
    creation(ok),
    false,
    { matchResources: constraints({ namespaceSelector: { matchLabels: { team: 'b' } } }) },
  ],
]
for (const [title, changes, request, isDenied, binding] of matches)
  test(`matches ${title}: ${isDenied}`, async () => {
    const spec = { ...no, matchConstraints: constraints(changes) }
    const policies = new Policies('validating').policy('p', spec).bind('p', binding)
    const outcome = await policies.outcome(request)
    assert.equal(outcome !== 'admitted', isDenied, outcome)
  })

test('expressions see the object in an equivalent version', async () => {
  const matchConstraints = constraints({ resourceRules: [inV2beta2] })
  const expression =
    "object.apiVersion == 'autoscaling/v2beta2' && request.kind.version == 'v2beta2' && request.resource.version == 'v2beta2' && request.requestKind.version == 'v1'"
  const policies = new Policies('validating').policy('p', { ...one(expression), matchConstraints })
  assert.equal(await policies.bind('p').outcome(creation(scaler, {}, scalers)), 'admitted')
})

const limits = (max: string, labels?: Loose, name = 'lim', namespace = 'ns') =>
  configMap({ max }, { name, namespace, ...(labels && { labels }) })
const ofParams = {
  paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
  validations: [
    {
      expression: 'params == null || int(object.data.n) <= int(params.data.max)',
      messageExpression: "'over ' + params.data.max + ' of ' + params.metadata.name",
    },
  ],
}
const notFound =
  'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'

/** The reference, the existing objects, and the reason why a request for n = 7 is denied. */
const parameterCases: [string, Loose | undefined, Loose[], string | undefined][] = [
  ['none', undefined, [], undefined],
  ['a name', { name: 'lim' }, [limits('5')], 'over 5 of lim'],
  ['a name', { name: 'lim' }, [limits('9')], undefined],
  [
    'a name elsewhere',
    { name: 'lim', namespace: 'x' },
    [limits('5', {}, 'lim', 'x')],
    'over 5 of lim',
  ],
  ['nothing, denied', { name: 'lim', parameterNotFoundAction: 'Deny' }, [], notFound],
  ['nothing, allowed', { name: 'lim', parameterNotFoundAction: 'Allow' }, [], undefined],
  [
    'labels',
    { selector: { matchLabels: { a: 'b' } } },
    [limits('5', { a: 'b' }), limits('1', {}, 'z')],
    'over 5 of lim',
  ],
  [
    'labels of none',
    { selector: { matchLabels: { a: 'c' } }, parameterNotFoundAction: 'Deny' },
    [limits('5')],
    notFound,
  ],
]
for (const [title, paramRef, objects, why] of parameterCases)
  test(`parameters by ${title}: ${why ?? 'admitted'}`, async () => {
    const policies = new Policies('validating').policy('p', ofParams).bind('p', { paramRef })
    for (const object of objects) policies.reader.put('', 'configmaps', object as never)
    const outcome = await policies.outcome(creation(configMap({ n: '7' })))
    assert.equal(outcome, why === undefined ? 'admitted' : denied(why))
  })

test('a paramKind that does not exist', async () => {
  const spec = { ...ofParams, paramKind: { apiVersion: 'x.io/v1', kind: 'Nothing' } }
  const policies = new Policies('validating')
    .policy('p', spec)
    .bind('p', { paramRef: { name: 'x' } })
  const why = `failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Nothing'`
  assert.equal(
    await policies.outcome(creation(ok)),
    `422 Invalid configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: ${why}`,
  )
})

test('warnings and audit annotations', async () => {
  const spec = {
    validations: [{ expression: 'false', message: 'a <b>' }],
    auditAnnotations: [
      { key: 'k', valueExpression: "' is ' + object.data.k" },
      { key: 'none', valueExpression: "''" },
    ],
  }
  const policies = new Policies('validating')
    .policy('p', spec)
    .bind('p', { validationActions: ['Warn'] }, 'b1')
    .bind('p', { validationActions: ['Audit'] }, 'b2')
  const request = creation(ok)
  assert.equal(await policies.outcome(request), 'admitted')
  assert.deepEqual(request.warnings, [
    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b1': a <b>",
  ])
  assert.deepEqual(
    [...request.auditAnnotations],
    [
      ['p/k', 'is ok'],
      [
        'validation.policy.admission.k8s.io/validation_failure',
        '[{"message":"a \\u003cb\\u003e","policy":"p","binding":"b2","expressionIndex":0,"validationActions":["Audit"]}]',
      ],
    ],
  )
})

test('a policy is active from its binding on, until either is deleted', async () => {
  const policies = new Policies('validating').policy('p', no)
  const now = () => policies.outcome(creation(ok))
  assert.equal(await now(), 'admitted')
  policies.bind('p')
  assert.equal(await now(), failed('false'))
  policies.policy('p', one('true'))
  assert.equal(await now(), 'admitted')
  policies.policy('p', no)
  policies.remove('policybindings', 'p-binding')
  assert.equal(await now(), 'admitted')
  policies.bind('p')
  policies.remove('policies', 'p')
  assert.equal(await now(), 'admitted')
})

const newest = catalogOf(37)

test('policies never intercept policies', async () => {
  const all = constraints({ resourceRules: [rule(['*'], ['*'], ['*'], ['*'])] })
  const policies = new Policies('validating')
    .policy('p', { ...no, matchConstraints: all })
    .bind('p')
  for (const plural of ['validatingadmissionpolicies', 'mutatingadmissionpolicybindings']) {
    const kind = kindOf('admissionregistration.k8s.io/v1', plural, newest)
    const request = creation({ metadata: { name: 'x' } }, {}, kind)
    assert.equal(await policies.outcome(request), 'admitted')
  }
})

test('ten expensive validations use up the budget', async () => {
  const list = `[${Array.from({ length: 300 }, (_, i) => i).join()}]`
  const expensive = { expression: `${list}.all(x, ${list}.all(y, x + y >= 0))` }
  const spec = { validations: Array.from({ length: 40 }, () => expensive) }
  const policies = new Policies('validating').policy('p', spec).bind('p')
  const outcome = await policies.outcome(creation(ok))
  const why =
    'validation failed due to running out of cost budget, no further validation rules will be run'
  assert.equal(outcome, denied(why))
})

test('expressions of one request share a work budget, and other requests run between them', async () => {
  const letters = "object.data.k.split('')"
  const hostile = { expression: `${letters}.map(a, object.data.k).join(',').size() < 0` }
  const spec = {
    failurePolicy: 'Ignore',
    validations: Array.from({ length: 20 }, () => hostile),
  }
  const policies = new Policies('validating').policy('p', spec)
  for (const name of ['b1', 'b2', 'b3']) policies.bind('p', {}, name)
  let turns = 0
  const turn = setInterval(() => turns++, 1)
  const began = process.cpuUsage()
  const outcome = await policies.outcome(creation(configMap({ k: 'a'.repeat(900_000) })))
  clearInterval(turn)
  const { user } = process.cpuUsage(began)
  assert.equal(outcome, 'admitted')
  assert.ok(turns > 0)
  assert.ok(user < 5_000_000, `${user} µs`)
})
