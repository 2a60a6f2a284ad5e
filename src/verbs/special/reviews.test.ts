/**
 * Reviews are answered and not stored; tokens are issued and not stored. Permissions are tested in
 * access.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AdmissionPlugin } from '#admission/admission.ts'
import { AdmissionChain } from '#admission/chain.ts'
import type { Loose } from '#api/object-meta.ts'
import type { Answer } from '#verbs/answer.ts'
import { refusalOf, startVerbs } from '#verbs/fixture.suite.ts'
import { specialVerbs } from '#verbs/special.ts'

const verbs = await startVerbs()
after(() => verbs.stop())
const requested: Loose[] = []
Object.assign(verbs.server, {
  access: {
    authorizer: {
      authorize(attributes: Loose) {
        requested.push(attributes)
        const isAllowed = attributes.user.name === 'alice' || attributes.user.name === 'tester'
        return { decision: isAllowed ? 'allow' : 'none', reason: 'because' }
      },
    },
    rules: {
      rulesFor: () => ({
        resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
        nonResourceRules: [],
        incomplete: false,
        errors: [],
      }),
    },
    mint: undefined,
    apiAudiences: [],
    reviewToken: () => undefined,
  },
})

function post(group: string, version: string, plural: string, body: object, namespace = '') {
  const kind = verbs.server.catalog.find(group, version, plural)
  if (kind === undefined) throw new Error(`there is no ${plural}`)
  const target = { kind, namespace, name: '', subresource: '' }
  const { create } = specialVerbs(target)
  if (create === undefined) throw new Error(`${plural} cannot be posted`)
  return create(verbs.server, verbs.request(target, body))
}
const authorization = (plural: string, body: object, namespace = '') =>
  post('authorization.k8s.io', 'v1', plural, body, namespace)
const statusOf = (answer: Answer) => (answer.is === 'value' ? (answer.value as Loose).status : {})

const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' }
const nonResourceAttributes = { verb: 'get', path: '/metrics' }
const questions: [
  what: string,
  plural: string,
  spec: object,
  namespace: string,
  allowed: boolean,
][] = [
  ['one who may', 'subjectaccessreviews', { user: 'alice', resourceAttributes }, '', true],
  ['one who may not', 'subjectaccessreviews', { user: 'bob', resourceAttributes }, '', false],
  ['a path', 'subjectaccessreviews', { user: 'alice', nonResourceAttributes }, '', true],
  ['oneself', 'selfsubjectaccessreviews', { resourceAttributes }, '', true],
  [
    'one in a namespace',
    'localsubjectaccessreviews',
    { user: 'bob', resourceAttributes },
    'default',
    false,
  ],
]
const places: [release: number, namespace: string | undefined, expected: string][] = [
  [23, undefined, '422 Invalid'],
  [23, 'other', '422 Invalid'],
  [24, undefined, '201 default'],
  [24, 'other', '400 BadRequest'],
]
for (const [release, namespace, expected] of places) {
  test(`a local review of ${namespace ?? 'no namespace'} as 1.${release}: ${expected}`, async () => {
    const newer = await startVerbs(undefined, undefined, release)
    Object.assign(newer.server, { access: verbs.server.access })
    const target = newer.target('localsubjectaccessreviews')
    const metadata = { ...(namespace !== undefined && { namespace }) }
    const body = { metadata, spec: { user: 'bob', resourceAttributes } }
    const { create } = specialVerbs(target)
    const ask = create?.(newer.server, newer.request(target, body)) as Promise<Answer>
    if (expected.startsWith('201')) {
      const answer = await ask
      assert.ok(answer.is === 'value')
      assert.equal(`${answer.status} ${(answer.value as Loose).metadata.namespace}`, expected)
    } else assert.equal(await refusalOf(ask), expected)
    await newer.stop()
  })
}

for (const [what, plural, spec, namespace, allowed] of questions) {
  test(`a question about ${what} is answered: ${allowed}`, async () => {
    const metadata = namespace === '' ? {} : { namespace }
    const answer = await authorization(plural, { metadata, spec }, namespace)
    assert.equal(answer.is === 'value' && answer.status, 201)
    assert.equal(statusOf(answer).allowed, allowed)
  })
}

test('the groups in a SubjectAccessReview are evaluated', async () => {
  requested.length = 0
  const spec = { user: 'carol', groups: ['dev'], resourceAttributes }
  await authorization('subjectaccessreviews', { metadata: {}, spec })
  assert.deepEqual(requested[0].user.groups, ['dev'])
})

const refusals: [
  what: string,
  plural: string,
  body: object,
  namespace: string,
  expected: string,
][] = [
  ['nobody', 'subjectaccessreviews', { spec: { resourceAttributes } }, '', '422 Invalid'],
  ['nothing', 'subjectaccessreviews', { spec: { user: 'alice' } }, '', '422 Invalid'],
  [
    'another namespace',
    'localsubjectaccessreviews',
    { spec: { user: 'bob', resourceAttributes } },
    'default',
    '422 Invalid',
  ],
  [
    'both at once',
    'subjectaccessreviews',
    { spec: { user: 'alice', resourceAttributes, nonResourceAttributes } },
    '',
    '422 Invalid',
  ],
  ['another kind', 'subjectaccessreviews', { kind: 'Pod', apiVersion: 'v1' }, '', '400 BadRequest'],
]
for (const [what, plural, body, namespace, expected] of refusals) {
  test(`a question about ${what} is refused: ${expected}`, async () => {
    assert.equal(await refusalOf(authorization(plural, body, namespace)), expected)
  })
}

test('the rules of a namespace are listed', async () => {
  const body = { metadata: {}, spec: { namespace: 'default' } }
  const answer = await authorization('selfsubjectrulesreviews', body)
  assert.deepEqual(statusOf(answer).resourceRules[0].resources, ['pods'])
})

test('the metadata of a token review is not validated', async () => {
  const body = { metadata: { namespace: 'x' }, spec: { token: 't' } }
  const answer = await post('authentication.k8s.io', 'v1', 'tokenreviews', body)
  assert.equal(answer.is === 'value' && (answer.value as Loose).metadata.namespace, 'x')
  assert.equal(statusOf(answer).error, 'invalid bearer token')
})

test('a server without a key issues no tokens', async () => {
  const target = { ...verbs.target('serviceaccounts', 'default', 'token') }
  const { create } = specialVerbs(target)
  const request = verbs.request(target, { spec: { audiences: ['a'] } })
  assert.equal(
    await refusalOf(create?.(verbs.server, request) as Promise<Answer>),
    '503 ServiceUnavailable',
  )
})

test('resources without a row use the ordinary verbs', () => {
  for (const plural of ['configmaps', 'pods', 'deployments']) {
    assert.deepEqual(specialVerbs(verbs.target(plural, 'x')), {})
  }
  assert.deepEqual(Object.keys(specialVerbs(verbs.target('deployments', 'x', 'scale'))), [
    'get',
    'update',
    'patch',
  ])
})

test('webhooks get a review with the name in its body', async () => {
  const heard: string[] = []
  const hear: AdmissionPlugin['mutate'] = ({ name }) => {
    heard.push(name)
  }
  const { admission, reader } = verbs.server
  Object.assign(verbs.server, {
    admission: new AdmissionChain([{ name: 'hears', mutate: hear, validate: hear }], reader),
  })
  const body = { metadata: { name: 'n' }, spec: { token: 't' } }
  await post('authentication.k8s.io', 'v1', 'tokenreviews', body)
  Object.assign(verbs.server, { admission })
  assert.deepEqual(heard, ['n', 'n'])
})
