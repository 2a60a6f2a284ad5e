import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import type { Attributes, Authorizer, Decision } from '#access/authorize.ts'
import {
  type CounterpartAnswer,
  type Counterpart,
  counterpart,
  folder,
  kubeconfig,
} from '#access/counterpart.suite.ts'
import { readKubeconfig } from '#access/kubeconfig.ts'
import { ReviewWebhook } from '#access/review-webhook.ts'
import { alwaysAllow, alwaysDeny, privileged } from './always.ts'
import { UnionAuthorizer, UnionRuleResolver } from './union.ts'
import { WebhookAuthorizer } from './webhook.ts'

const jane = { name: 'jane', uid: 'u', groups: ['dev'], extra: { k: ['v'] } }
const question = (more: Partial<Attributes> = {}): Attributes => ({
  user: jane,
  verb: 'get',
  isResource: true,
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: '',
  namespace: 'n',
  name: 'd',
  path: '',
  ...more,
})

const says = (decision: Decision, wait = false): Authorizer => ({
  name: 'says',
  authorize: () => (wait ? Promise.resolve(decision) : decision),
})
const allow: Decision = { decision: 'allow', reason: 'yes' }
const deny: Decision = { decision: 'deny', reason: 'no' }
const none = (reason: string, error?: string): Decision => ({
  decision: 'none',
  reason,
  ...(error && { error }),
})

const unions: [string, Authorizer[], Decision][] = [
  ['the first that allows', [says(none('a')), says(allow), says(deny)], allow],
  ['the first that denies', [says(none('a'), true), says(deny), says(allow)], deny],
  [
    'no authorizer decides: the error has all reasons, one per line',
    [says(none('a')), says(none('')), says(none('b'), true)],
    none('a\nb'),
  ],
  ['errors of all', [says(none('', 'x')), says(none('', 'y'), true)], none('', '[x, y]')],
  ['an error does not keep others from allowing', [says(none('', 'x'), true), says(allow)], allow],
  ['no mode at all', [], none('')],
]
for (const [name, modes, expected] of unions)
  test(`union: ${name}`, async () =>
    assert.deepEqual(await new UnionAuthorizer(modes).authorize(question()), expected))

test('union: reasons begin with the names', async () => {
  const modes = [says(none('a')), says(none('')), says(none('b'), true)]
  const named = new UnionAuthorizer(modes, ['node', 'rbac', 'hook'])
  assert.deepEqual(await named.authorize(question()), none('node: a\nhook: b'))
})

test('synchronous modes stay synchronous', () =>
  assert.ok(!(new UnionAuthorizer([alwaysDeny]).authorize(question()) instanceof Promise)))

test('system:masters may do anything, before any mode is called', () => {
  const master = { ...jane, groups: ['system:masters'] }
  const union = new UnionAuthorizer([privileged, alwaysDeny])
  assert.deepEqual(union.authorize(question({ user: master })), { decision: 'allow', reason: '' })
  assert.deepEqual(union.authorize(question()), none('Everything is forbidden.'))
  const named = { ...jane, name: 'system:masters' }
  assert.deepEqual(union.authorize(question({ user: named })), none('Everything is forbidden.'))
})

test('the rules of several modes are combined', () => {
  const rules = new UnionRuleResolver([alwaysDeny, alwaysAllow]).rulesFor(jane, 'n')
  assert.equal(rules.resourceRules.length, 1)
  assert.equal(rules.incomplete, false)
})

const files = folder()
let service: Counterpart
let seen: Loose[] = []
let answers: CounterpartAnswer[] = []
before(async () => {
  service = await counterpart(({ body }) => {
    seen.push(JSON.parse(body))
    return answers.shift() ?? { status: 403 }
  })
})
after(async () => {
  await service.stop()
  files.remove()
})

let now = 0
async function webhook(version: 'v1' | 'v1beta1' = 'v1'): Promise<WebhookAuthorizer> {
  seen = []
  answers = []
  now = 0
  const ca = Buffer.from(service.authority.pem).toString('base64')
  const file = files.file('c', kubeconfig(service.url, { 'certificate-authority-data': ca }))
  const fast = { firstDelayMs: 1, factor: 1, jitter: 0, attempts: 2 }
  const remote = new ReviewWebhook(await readKubeconfig(file), fast)
  const settings = { version, authorizedTtlMs: 100, unauthorizedTtlMs: 10 }
  return new WebhookAuthorizer(remote, settings, { now: () => now })
}
const review = (status: Loose, version = 'v1'): CounterpartAnswer => ({
  status: 201,
  body: { kind: 'SubjectAccessReview', apiVersion: `authorization.k8s.io/${version}`, status },
})

test('the review that a webhook receives', async () => {
  const attributes = {
    namespace: 'n',
    verb: 'get',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    name: 'd',
  }
  const who = { user: 'jane', extra: { k: ['v'] }, uid: 'u' }
  const v1 = await webhook()
  answers = [review({ allowed: true })]
  await v1.authorize(question())
  assert.deepEqual(seen[0]?.spec, { resourceAttributes: attributes, groups: ['dev'], ...who })
  const old = await webhook('v1beta1')
  answers = [review({ allowed: true }, 'v1beta1')]
  await old.authorize(question({ isResource: false, verb: 'get', path: '/logs' }))
  assert.deepEqual(seen[0]?.spec, {
    nonResourceAttributes: { path: '/logs', verb: 'get' },
    group: ['dev'],
    ...who,
  })
})

const decisions: [string, CounterpartAnswer, string, RegExp?][] = [
  ['yes', review({ allowed: true, reason: 'r' }), 'allow r'],
  ['not', review({ allowed: false, reason: 'r' }), 'none r'],
  ['no', review({ allowed: false, denied: true, reason: 'r' }), 'deny r'],
  ['both', review({ allowed: true, denied: true }), 'deny ', /both allow and deny/],
  ['yes in words', review({ allowed: 'true' }), 'none '],
  ['nothing', review({}), 'none '],
  ['another version', review({ allowed: true }, 'v1beta1'), 'none ', /no authorization/],
  ['an error', { status: 500 }, 'none ', /status/],
  ['a refusal', { status: 403, body: { status: { allowed: true } } }, 'none ', /403/],
  ['a hang-up', 'reset', 'none ', /./],
]
for (const [name, answer, expected, error] of decisions)
  test(`a webhook that says ${name}`, async () => {
    const mode = await webhook()
    answers = [answer, answer]
    const { decision, reason, error: found } = await mode.authorize(question())
    assert.equal(`${decision} ${reason}`, expected)
    if (error === undefined) assert.equal(found, undefined)
    else assert.match(found ?? '', error)
  })

test('results are cached, allowed ones longer than denied ones, errors never', async () => {
  const mode = await webhook()
  const ask = async (name: string) => (await mode.authorize(question({ name }))).decision
  answers = [review({ allowed: true }), review({ allowed: false }), { status: 403 }]
  assert.equal(await ask('a'), 'allow')
  assert.equal(await ask('b'), 'none')
  assert.equal(await ask('c'), 'none')
  assert.ok(!(mode.authorize(question({ name: 'a' })) instanceof Promise))
  answers = [review({ allowed: true })]
  assert.equal(await ask('c'), 'allow')
  now = 11
  answers = [review({ allowed: true })]
  assert.equal(await ask('b'), 'allow')
  assert.equal(await ask('a'), 'allow')
  assert.equal(seen.length, 5)
  now = 111
  answers = [review({ allowed: false })]
  assert.equal(await ask('a'), 'none')
})

test('results of very long requests are not cached', async () => {
  const mode = await webhook()
  const long = question({ name: 'x'.repeat(10_000) })
  answers = [review({ allowed: true }), review({ allowed: false })]
  assert.equal((await mode.authorize(long)).decision, 'allow')
  assert.equal((await mode.authorize(long)).decision, 'none')
})

test("a webhook cannot list a user's permissions", async () => {
  const rules = (await webhook()).rulesFor()
  assert.equal(rules.incomplete, true)
  assert.deepEqual(rules.errors, ['webhook authorizer does not support user rule resolution'])
})
