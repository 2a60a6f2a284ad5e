/**
 * --authorization-config: the errors for a file, the chain of authorizers, its conditions, and
 * changes while the server runs.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Attributes, Decision } from '#access/authorize.ts'
import type { ReviewWebhook } from '#access/review-webhook.ts'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { until } from '#base/until.fixture.ts'
import { alwaysAllow, alwaysDeny } from './always.ts'
import { readAuthorizationConfiguration } from './authorization-configuration.ts'
import { ConfiguredAuthorizers, type Mode } from './configured-authorizers.ts'
import { WebhookAuthorizer } from './webhook.ts'

const folder = mkdtempSync(join(tmpdir(), 'authorization-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'authorization.yaml')
const kubeconfig = join(folder, 'kubeconfig')
writeFileSync(kubeconfig, '')

const write = (authorizers: Loose[], version = 'v1') =>
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: `apiserver.config.k8s.io/${version}`,
      kind: 'AuthorizationConfiguration',
      authorizers,
    }),
  )
const read = (authorizers: Loose[], version?: string, release = 37) => {
  write(authorizers, version)
  return readAuthorizationConfiguration(file, releaseOf(release))
}
const settings = (more: Loose = {}) => ({
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'NoOpinion',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig },
  ...more,
})
const webhook = (more: Loose = {}, name = 'hook') => ({
  type: 'Webhook',
  name,
  webhook: settings(more),
})
const when = (...expressions: string[]) => ({
  matchConditionSubjectAccessReviewVersion: 'v1',
  matchConditions: expressions.map((expression) => ({ expression })),
})
const at = 'authorizers[0]'

const problems: [what: string, authorizers: Loose[], problem: string][] = [
  [
    'no authorizer',
    [],
    'authorizers: Required value: at least one authorization mode must be defined',
  ],
  [
    'an unknown type',
    [{ type: 'Nope', name: 'n' }],
    `${at}.type: Unsupported value: "Nope": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`,
  ],
  [
    'a type twice',
    [
      { type: 'RBAC', name: 'a' },
      { type: 'RBAC', name: 'b' },
    ],
    'authorizers[1].type: Duplicate value: "RBAC"',
  ],
  ['a name twice', [webhook(), webhook()], 'authorizers[1].name: Duplicate value: "hook"'],
  [
    'no webhook',
    [{ type: 'Webhook', name: 'h' }],
    `${at}.webhook: Required value: required when type=Webhook`,
  ],
  ['no time', [webhook({ timeout: undefined })], `${at}.timeout: Required value`],
  [
    'too long a time',
    [webhook({ timeout: '31s' })],
    `${at}.timeout: Invalid value: "31s": must be > 0s and <= 30s`,
  ],
  ['no policy', [webhook({ failurePolicy: '' })], `${at}.failurePolicy: Required value`],
  [
    'a relative path',
    [webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'x' } })],
    `${at}.connectionInfo.kubeConfigFile: Invalid value: "x": must be an absolute path`,
  ],
  [
    'conditions without a version',
    [webhook({ matchConditions: [{ expression: 'true' }] })],
    `${at}.matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified`,
  ],
  [
    'a condition that does not return a boolean',
    [webhook(when('request.user'))],
    `${at}.matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string`,
  ],
  [
    'a condition on an unknown field',
    [webhook(when('request.nope == ""'))],
    `compilation failed: ERROR: <input>:1:8: undefined field 'nope'`,
  ],
]
const misfits: typeof problems = [
  [
    'a misspelt field of a webhook',
    [webhook({ failurePolice: 'Deny' })],
    `strict decoding error: unknown field "${at}.webhook.failurePolice"`,
  ],
  ['a number for a name', [{ type: 'RBAC', name: 1 }], `${at}.name: expected a string`],
]
for (const [what, authorizers, problem] of [...problems, ...misfits])
  test(`${what} is refused`, () => {
    assert.throws(
      () => read(authorizers),
      (error: Error) => {
        assert.ok(error.message.includes(problem), error.message)
        return true
      },
    )
  })

for (const [version, release, isKnown] of [
  ['v1alpha1', 29, true],
  ['v1beta1', 29, false],
  ['v1beta1', 30, true],
  ['v1', 31, false],
  ['v1', 32, true],
] as const)
  test(`${version} as 1.${release} is ${isKnown ? 'read' : 'refused'}`, () => {
    const reading = () => read([{ type: 'RBAC', name: 'r' }], version, release)
    if (isKnown) assert.deepEqual(reading(), [{ type: 'RBAC', name: 'r' }])
    else assert.throws(reading, /no kind "AuthorizationConfiguration" is registered for version/)
  })

test('a webhook has the times of the file, or those of kube-apiserver', () => {
  const [first, second] = read([
    webhook(),
    webhook(
      { authorizedTTL: '1m', cacheUnauthorizedRequests: false, failurePolicy: 'Deny' },
      'two',
    ),
  ])
  assert.ok(first?.type === 'Webhook' && second?.type === 'Webhook')
  const { authorizedTtlMs, unauthorizedTtlMs, deniesOnFailure, timeoutMs } = first.webhook
  assert.deepEqual(
    [timeoutMs, authorizedTtlMs, unauthorizedTtlMs, deniesOnFailure],
    [3000, 300_000, 30_000, false],
  )
  assert.deepEqual([second.webhook.authorizedTtlMs, second.webhook.unauthorizedTtlMs], [60_000, 0])
  assert.equal(second.webhook.deniesOnFailure, true)
})

const attributes: Attributes = {
  user: { name: 'bob', uid: '', groups: ['dev'], extra: {} },
  verb: 'list',
  isResource: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns',
  name: '',
  path: '',
}
const url: Attributes = { ...attributes, isResource: false, path: '/healthz', verb: 'get' }

const conditions: [expressions: string[], of: Attributes, deny: boolean, expected: string][] = [
  [["request.resourceAttributes.namespace == 'ns'"], attributes, false, 'allow'],
  [["request.resourceAttributes.namespace == 'other'"], attributes, false, 'none'],
  [["'dev' in request.groups", 'request.user != "bob"'], attributes, false, 'none'],
  [['has(request.resourceAttributes)'], url, false, 'none'],
  [['request.nonResourceAttributes.path == "/healthz"'], url, false, 'allow'],
  [['request.extra["x"][0] == "y"'], attributes, false, 'none with an error'],
  [['request.extra["x"][0] == "y"'], attributes, true, 'deny with an error'],
  [['request.extra["x"][0] == "y"', 'false'], attributes, true, 'none'],
]
for (const [expressions, of, deny, expected] of conditions)
  test(`a webhook with ${expressions.join(' and ')}: ${expected}`, async () => {
    const failurePolicy = deny ? 'Deny' : 'NoOpinion'
    const [choice] = read([webhook({ ...when(...expressions), failurePolicy })])
    assert.ok(choice?.type === 'Webhook')
    const remote = { review: async () => ({ allowed: true }) } as unknown as ReviewWebhook
    const mode = new WebhookAuthorizer(remote, choice.webhook, { now: () => 0 })
    const { decision, error } = await mode.authorize(of)
    assert.equal(error === undefined ? decision : `${decision} with an error`, expected)
  })

const measurements: [expressions: string[], failed: boolean, excludes: boolean][] = [
  [['true'], false, false],
  [['false'], false, true],
  [['request.extra["x"][0] == "y"'], true, false],
  [['request.extra["x"][0] == "y"', 'false'], true, true],
]
for (const [expressions, failed, excludes] of measurements)
  test(`the conditions ${expressions.join(' and ')} are measured`, async () => {
    const [choice] = read([webhook(when(...expressions))])
    assert.ok(choice?.type === 'Webhook')
    const remote = { review: async () => ({ allowed: true }) } as unknown as ReviewWebhook
    const seen: unknown[] = []
    let now = 0
    const meter = {
      monotonicMs: () => (now += 7),
      evaluated: (...evaluation: unknown[]) => seen.push(evaluation),
    }
    const settings = { ...choice.webhook, measured: { name: 'one', meter } }
    await new WebhookAuthorizer(remote, settings, { now: () => 0 }).authorize(attributes)
    assert.deepEqual(seen, [['one', 7, failed, excludes]])
  })

test('a webhook that fails denies where the file says so', async () => {
  const [choice] = read([webhook({ failurePolicy: 'Deny' })])
  assert.ok(choice?.type === 'Webhook')
  const review = () => Promise.reject(new Error('away'))
  const remote = { review } as unknown as ReviewWebhook
  const mode = new WebhookAuthorizer(remote, choice.webhook, { now: () => 0 })
  assert.deepEqual(await mode.authorize(attributes), {
    decision: 'deny',
    reason: '',
    error: 'away',
  })
})

test('a good change replaces the chain, a wrong one changes nothing', async () => {
  const reports: string[] = []
  const loads: boolean[] = []
  write([{ type: 'AlwaysDeny', name: 'no' }])
  const modes: Record<string, Mode> = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny }
  const chain = await ConfiguredAuthorizers.open({
    file,
    release: releaseOf(37),
    make: async ({ type }, isStart) => {
      const mode = modes[type]
      if (mode === undefined) throw new Error(`${type} is new, ${isStart}`)
      return mode
    },
    report: (message) => void reports.push(message),
    reloaded: (isLoaded) => void loads.push(isLoaded),
    readAgainMs: 5,
  })
  try {
    const decide = () => (chain.authorize(attributes) as Decision).decision
    assert.equal(decide(), 'none')
    write([{ type: 'AlwaysAllow', name: 'yes' }])
    await until('the chain to change', () => decide() === 'allow')
    write([{ type: 'RBAC', name: 'r' }])
    await until('the change to be refused', () => reports.length > 0)
    assert.match(reports[0] ?? '', /authorizers stay as they were: RBAC is new, false/)
    assert.deepEqual(loads, [true, false])
    assert.equal(decide(), 'allow')
  } finally {
    chain.stop()
  }
})

for (const [release, reason] of [
  [36, 'not mine'],
  [37, 'first: not mine'],
] as const) {
  test(`as 1.${release} the reason of a configured authorizer is: ${reason}`, async () => {
    write([{ type: 'RBAC', name: 'first' }])
    const undecided: Mode = {
      ...alwaysAllow,
      authorize: () => ({ decision: 'none', reason: 'not mine' }),
    }
    const chain = await ConfiguredAuthorizers.open({
      file,
      release: releaseOf(release),
      make: async () => undecided,
      report: assert.fail,
    })
    try {
      assert.deepEqual(await chain.authorize(attributes), { decision: 'none', reason })
    } finally {
      chain.stop()
    }
  })
}
