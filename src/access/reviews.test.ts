import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { ApiError } from '#api/status-error.ts'
import { readSigningKey } from './authenticate/key-files.ts'
import { TokenMint } from './authenticate/service-account-token.ts'
import type { AuthenticationResult } from './authenticate.ts'
import type { Authorizer } from './authorize.ts'
import { RbacAuthorizer } from './authorize/rbac.ts'
import { MemoryReader } from './memory-reader.suite.ts'
import { checkReview, type ReviewKind, reviewStatus, rulesReview } from './subject-access-review.ts'
import { answerTokenRequest, checkTokenRequest, type TokenRules } from './token-request.ts'
import { tokenReviewStatus } from './token-review.ts'

const attempt = async (run: () => unknown): Promise<string> => {
  try {
    await run()
    return 'ok'
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`
  }
}

const old = { release: releaseOf(22), feature: () => false }
const newest = { release: releaseOf(37), feature: () => true }

const pods = { verb: 'get', resource: 'pods', namespace: 'n' }
const path = { path: '/x', verb: 'get' }
const one = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
const shownPath = 'authorization.NonResourceAttributes{Path:"/x", Verb:"get"}'
const invalid = (stated: string) => `422 .authorization.k8s.io "" is invalid: ${stated}`

const checks: [ReviewKind, Loose, Loose, string][] = [
  ['SubjectAccessReview', {}, { user: 'a', resourceAttributes: pods }, 'ok'],
  ['SubjectAccessReview', {}, { groups: ['g'], nonResourceAttributes: path }, 'ok'],
  [
    'SubjectAccessReview',
    {},
    {},
    invalid(
      `[spec.resourceAttributes: Invalid value: "null": ${one}, spec.user: Invalid value: "": at least one of user or group must be specified]`,
    ),
  ],
  [
    'SubjectAccessReview',
    {},
    { user: 'a', resourceAttributes: pods, nonResourceAttributes: path },
    invalid(
      `spec.nonResourceAttributes: Invalid value: ${shownPath}: cannot be specified in combination with resourceAttributes`,
    ),
  ],
  [
    'SelfSubjectAccessReview',
    {},
    {},
    invalid(`spec.resourceAttributes: Invalid value: "null": ${one}`),
  ],
  [
    'SelfSubjectAccessReview',
    { managedFields: [{}], labels: {} },
    { resourceAttributes: pods },
    'ok',
  ],
  ['LocalSubjectAccessReview', { namespace: 'n' }, { user: 'a', resourceAttributes: pods }, 'ok'],
  [
    'LocalSubjectAccessReview',
    {},
    { user: 'a', resourceAttributes: pods },
    invalid('spec.resourceAttributes.namespace: Invalid value: "n": must match metadata.namespace'),
  ],
  [
    'LocalSubjectAccessReview',
    { namespace: 'n' },
    { user: 'a', nonResourceAttributes: path },
    invalid(
      `spec.nonResourceAttributes: Invalid value: ${shownPath}: disallowed on this kind of request`,
    ),
  ],
  [
    'LocalSubjectAccessReview',
    { namespace: 'm' },
    { user: 'a', resourceAttributes: { ...pods, namespace: 'm' } },
    '400 spec.resourceAttributes.namespace must match namespace: n',
  ],
]
for (const [kind, metadata, spec, expected] of checks)
  test(`${kind} ${JSON.stringify({ metadata, spec })}`, async () =>
    assert.equal(await attempt(() => checkReview(kind, { metadata, spec }, 'n', old)), expected))

const pathJson = '{"Path":"/x","Verb":"get"}'
checkBoundaries<Loose, string>(
  (release, spec) => {
    const rules = { release: releaseOf(release), feature: () => false }
    return attempt(() => checkReview('SelfSubjectAccessReview', { metadata: {}, spec }, 'n', rules))
  },
  [
    [
      'a review of a resource and a path',
      [36, 37],
      { resourceAttributes: pods, nonResourceAttributes: path },
      invalid(
        `spec.nonResourceAttributes: Invalid value: ${pathJson}: cannot be specified in combination with resourceAttributes`,
      ),
      invalid(`spec: Invalid value: ${pathJson}: ${one}`),
    ],
    [
      'a review of nothing',
      [36, 37],
      {},
      invalid(`spec.resourceAttributes: Invalid value: null: ${one}`),
      invalid(`spec: Invalid value: null: ${one}`),
    ],
  ],
)

test('a review has no metadata of its own', async () => {
  const review = {
    metadata: { name: 'x', labels: { a: 'b' } },
    spec: { user: 'a', resourceAttributes: pods },
  }
  const stated = await attempt(() => checkReview('SubjectAccessReview', review, '', old))
  assert.match(
    stated,
    /metadata: Invalid value: v1\.ObjectMeta\{Name:"x", GenerateName:"", .*Labels:map\[string\]string\{"a":"b"\}.*\}: must be empty$/,
  )
  const local = { ...review, metadata: { ...review.metadata, namespace: 'n' } }
  assert.match(
    await attempt(() => checkReview('LocalSubjectAccessReview', local, 'n', old)),
    /: must be empty except for namespace$/,
  )
})

const caller = { name: 'me', uid: '', groups: ['g'], extra: {} }
const echo = (decision: 'allow' | 'deny' | 'none', error?: string): Authorizer => ({
  name: 'echo',
  authorize: ({ user, verb, resource, subresource, group, namespace, name, path, isResource }) => ({
    decision,
    reason: [
      user.name,
      user.groups,
      user.uid,
      Object.keys(user.extra),
      verb,
      isResource,
      resource,
      subresource,
      group,
      namespace,
      name,
      path,
    ].join('|'),
    ...(error && { error }),
  }),
})

test('the attributes that authorizers receive, and the status', async () => {
  const spec = {
    user: 'jane',
    groups: ['a', 'b'],
    uid: 'u',
    extra: { k: ['v'] },
    resourceAttributes: { ...pods, subresource: 'log', group: 'g', name: 'p' },
  }
  const review = { metadata: {}, spec }
  assert.deepEqual(await reviewStatus('SubjectAccessReview', review, caller, echo('allow'), old), {
    allowed: true,
    reason: 'jane|a,b|u|k|get|true|pods|log|g|n|p|',
  })
  const self = { metadata: {}, spec: { nonResourceAttributes: path } }
  assert.deepEqual(
    await reviewStatus('SelfSubjectAccessReview', self, caller, echo('deny', 'e'), old),
    {
      allowed: false,
      denied: true,
      reason: 'me|g|||get|false|||||' + '|/x',
      evaluationError: 'e',
    },
  )
  const quiet: Authorizer = { name: '', authorize: () => ({ decision: 'none', reason: '' }) }
  assert.deepEqual(await reviewStatus('SubjectAccessReview', review, caller, quiet, old), {
    allowed: false,
  })
})

test('rules review', async () => {
  const rbac = new RbacAuthorizer()
  rbac.changed('clusterroles', {
    metadata: { name: 'r' },
    rules: [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['get'], nonResourceURLs: ['/healthz'] },
    ],
  })
  for (const name of ['r', 'gone'])
    rbac.changed('rolebindings', {
      metadata: { name, namespace: 'n' },
      subjects: [{ kind: 'User', name: 'me' }],
      roleRef: { kind: 'ClusterRole', name },
    })
  const review = { metadata: {}, spec: { namespace: 'n' } }
  assert.deepEqual(rulesReview(review, caller, rbac, 22), {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec: {},
    status: {
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    },
  })
  assert.equal(
    await attempt(() => rulesReview({ metadata: {}, spec: {} }, caller, rbac, 22)),
    '400 no namespace on request',
  )
})

const reviewer = (verdict: AuthenticationResult, seen: string[][] = []) => ({
  apiAudiences: ['api'],
  reviewToken: async (_: string, audiences: readonly string[]) => {
    seen.push([...audiences])
    return verdict
  },
})
const tokenReview = (spec: Loose): KubeObject => ({ metadata: {}, spec })

test('token review', async () => {
  const seen: string[][] = []
  const user = { name: 'jane', uid: 'u', groups: ['a'], extra: { k: ['v'] } }
  const known = reviewer({ user, audiences: ['api'] }, seen)
  assert.deepEqual(await tokenReviewStatus(tokenReview({ token: 't' }), known), {
    authenticated: true,
    user: { username: 'jane', uid: 'u', groups: ['a'], extra: { k: ['v'] } },
    audiences: ['api'],
  })
  await tokenReviewStatus(tokenReview({ token: 't', audiences: ['api', 'x'] }), known)
  assert.deepEqual(seen, [['api'], ['api', 'x']])
  assert.deepEqual(await tokenReviewStatus(tokenReview({ token: 't' }), reviewer(undefined)), {
    user: {},
    error: 'invalid bearer token',
  })
  const sent = { ...tokenReview({ token: 't' }), status: { authenticated: true, error: 'e' } }
  assert.deepEqual((await tokenReviewStatus(sent, known)).error, 'e')
  const guess = { ...sent, status: { ...sent.status, user: { username: 'x' }, audiences: ['y'] } }
  assert.deepEqual(await tokenReviewStatus(guess, reviewer(undefined)), {
    user: { username: 'x' },
    audiences: ['y'],
    error: 'invalid bearer token',
  })
  const refused = reviewer({ refused: 'Token has expired.' })
  assert.deepEqual(await tokenReviewStatus(tokenReview({ token: 't' }), refused), {
    user: {},
    error: '[invalid bearer token, Token has expired.]',
  })
  assert.equal(
    await attempt(() => tokenReviewStatus(tokenReview({}), known)),
    '400 token is required for TokenReview in authentication',
  )
  assert.equal(
    await attempt(() => tokenReviewStatus(tokenReview({ token: 't', audiences: ['x'] }), known)),
    '500 Internal error occurred: error validating audiences',
  )
})

const rules: TokenRules = {
  release: releaseOf(22),
  feature: () => false,
  newUid: () => 'id',
  warnings: [],
  auditAnnotations: new Map(),
}

const seconds: [number, string][] = [
  [600, 'ok'],
  [2 ** 32, 'ok'],
  [
    599,
    '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ],
  [
    2 ** 32 + 1,
    '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
  ],
]
for (const [expirationSeconds, expected] of seconds)
  test(`a token for ${expirationSeconds} seconds`, async () =>
    assert.equal(
      await attempt(() =>
        checkTokenRequest({ metadata: {}, spec: { expirationSeconds } }, 'n', 'bot', reader, rules),
      ),
      expected,
    ))

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const mint = new TokenMint(
  'https://issuer',
  readSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 'k'),
)
const reader = new MemoryReader()
reader.put('', 'serviceaccounts', { metadata: { namespace: 'n', name: 'bot', uid: 'b' } })
reader.put('', 'pods', {
  metadata: { namespace: 'n', name: 'p', uid: 'pu' },
  spec: { serviceAccountName: 'bot' },
})
reader.put('', 'pods', {
  metadata: { namespace: 'n', name: 'q', uid: 'qu' },
  spec: { serviceAccountName: 'x' },
})
reader.put('', 'secrets', { metadata: { namespace: 'n', name: 's', uid: 'su' } })
const now = Date.parse('2024-05-01T00:00:00.900Z')

const requestToken = (
  spec: Loose,
  name = 'bot',
  more: Partial<{ max: number; extend: boolean }> = {},
) =>
  answerTokenRequest(
    { metadata: {}, spec: { expirationSeconds: 3600, ...spec } },
    'n',
    name,
    reader,
    mint,
    {
      apiAudiences: ['api'],
      expirationSecondsMax: more.max ?? 0,
      extendExpiration: more.extend ?? true,
    },
    now,
    rules,
  )
const claimsOf = (status: Loose): Loose =>
  JSON.parse(Buffer.from(status.token.split('.')[1], 'base64url').toString())

test('a token with the requested properties', async () => {
  const { spec, status } = await requestToken({})
  assert.deepEqual(spec, { expirationSeconds: 3600, audiences: ['api'], boundObjectRef: null })
  assert.equal(status.expirationTimestamp, '2024-05-01T01:00:00Z')
  const claims = claimsOf(status)
  assert.equal(claims.exp - claims.iat, 3600)
  assert.deepEqual(claims.aud, ['api'])
})

test('the longest lifetime', async () => {
  const { spec, status } = await requestToken({}, 'bot', { max: 1000 })
  assert.equal(spec.expirationSeconds, 1000)
  assert.equal(claimsOf(status).exp - claimsOf(status).iat, 1000)
})

test('the default token of a pod is valid longer than it claims', async () => {
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' }
  const usual = { boundObjectRef, expirationSeconds: 3607 }
  const extended = await requestToken(usual)
  assert.equal(extended.spec.expirationSeconds, 3607)
  assert.equal(extended.status.expirationTimestamp, '2024-05-01T01:00:07Z')
  const claims = claimsOf(extended.status)
  assert.equal(claims.exp - claims.iat, 365 * 24 * 3600)
  assert.equal(claims['kubernetes.io'].warnafter - claims.iat, 3607)
  assert.deepEqual(claims['kubernetes.io'].pod, { name: 'p', uid: 'pu' })
  const plain = claimsOf((await requestToken(usual, 'bot', { extend: false })).status)
  assert.equal(plain.exp - plain.iat, 3607)
  assert.equal(plain['kubernetes.io'].warnafter, undefined)
})

const refused: [Loose, string, string][] = [
  [{}, 'nope', '404 serviceaccounts "nope" not found'],
  [
    { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } },
    'bot',
    '404 pods "x" not found',
  ],
  [
    { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'x' } },
    'bot',
    '404 secrets "x" not found',
  ],
  [
    { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'q' } },
    'bot',
    '400 cannot bind token for serviceaccount "bot" to pod running with different serviceaccount name.',
  ],
  [
    { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'x' } },
    'bot',
    '400 cannot bind token to object of type /v1, Kind=Node',
  ],
  [
    { boundObjectRef: { kind: 'Pod', apiVersion: 'apps/v1', name: 'p' } },
    'bot',
    '400 cannot bind token to object of type apps/v1, Kind=Pod',
  ],
  [
    { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'other' } },
    'bot',
    '409 Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (other) does not match the UID in record. The object might have been deleted and then recreated',
  ],
]
for (const [spec, name, expected] of refused)
  test(`refused: ${expected}`, async () =>
    assert.equal(await attempt(() => requestToken(spec, name)), expected))

test('since 1.37 the error for two questions or none contains the spec', async () => {
  const review = (spec: Loose) => ({ metadata: {}, spec: { user: 'a', ...spec } })
  const stated = (spec: Loose) =>
    attempt(() => checkReview('SubjectAccessReview', review(spec), '', newest))
  assert.equal(await stated({}), invalid(`spec: Invalid value: null: ${one}`))
  assert.equal(
    await stated({ resourceAttributes: pods, nonResourceAttributes: path }),
    invalid(`spec: Invalid value: {"Path":"/x","Verb":"get"}: ${one}`),
  )
  const named = { metadata: { name: 'x' }, spec: { user: 'a', resourceAttributes: pods } }
  assert.equal(
    await attempt(() => checkReview('SubjectAccessReview', named, '', newest)),
    invalid('metadata: Invalid value: {"name":"x"}: must be empty'),
  )
})

const selector = 'spec.resourceAttributes.fieldSelector'
const labelSelector = 'spec.resourceAttributes.labelSelector'
const selectors: [name: string, attributes: Loose, problem: string][] = [
  ['a text', { fieldSelector: { rawSelector: 'a=b' } }, ''],
  [
    'an operator of a newer release',
    { labelSelector: { requirements: [{ key: 'a', operator: 'New' }] } },
    '',
  ],
  [
    'both',
    { fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] } },
    `${selector}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
  ],
  [
    'neither',
    { fieldSelector: {} },
    `${selector}.requirements: Required value: when ${selector} is specified, requirements or rawSelector is required`,
  ],
  [
    'values of Exists',
    { labelSelector: { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
    `${labelSelector}.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
  ],
]
for (const [name, attributes, problem] of selectors)
  test(`a review with a selector that has ${name}`, async () => {
    const spec = { user: 'a', resourceAttributes: { ...pods, ...attributes } }
    const stated = await attempt(() =>
      checkReview('SubjectAccessReview', { metadata: {}, spec }, '', newest),
    )
    assert.equal(stated, problem === '' ? 'ok' : invalid(problem))
  })

test('unreadable selectors are reported and treated as absent', async () => {
  let seen: Loose | undefined
  const authorizer: Authorizer = {
    name: 'x',
    authorize({ selectors: found }) {
      seen = found
      return { decision: 'none', reason: '' }
    },
  }
  const requirements = [
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'c', operator: 'New' },
  ]
  const spec = {
    user: 'a',
    resourceAttributes: {
      ...pods,
      fieldSelector: { requirements },
      labelSelector: { rawSelector: 'a in (b' },
    },
  }
  const status = await reviewStatus(
    'SubjectAccessReview',
    { metadata: {}, spec },
    { name: 'a', uid: '', groups: [], extra: {} },
    authorizer,
    newest,
  )
  assert.equal(
    status.evaluationError,
    `${selector} partially ignored due to parse error; ${labelSelector} ignored due to parse error`,
  )
  assert.deepEqual(seen?.fields.requirements, [{ field: 'a', value: 'b', equal: true }])
})
