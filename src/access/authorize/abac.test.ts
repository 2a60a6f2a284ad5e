import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from '#access/authorize.ts'
import { AbacAuthorizer } from './abac.ts'

const policy = (spec: object) =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })
const file = [
  '# people',
  policy({ user: 'alice', namespace: '*', resource: '*', apiGroup: '*', readonly: true }),
  '',
  policy({ user: 'bob', namespace: 'n', resource: 'pods', apiGroup: '' }),
  policy({ group: 'ops', user: 'carol', nonResourcePath: '/logs*' }),
  policy({ user: '*', nonResourcePath: '/version' }),
  policy({ namespace: '*', resource: '*', apiGroup: '*' }),
  '{"user":"old","namespace":"n"}',
].join('\n')

function ask(who: string, verb: string, what: string, namespace = ''): Attributes {
  const [name = '', ...groups] = who.split(',')
  const isResource = !what.startsWith('/')
  const [resource = '', group = ''] = isResource ? what.split('.') : []
  return {
    user: { name, uid: '', groups, extra: {} },
    verb,
    isResource,
    group,
    version: 'v1',
    resource,
    subresource: '',
    namespace,
    name: '',
    path: isResource ? '' : what,
  }
}

const cases: [Attributes, string][] = [
  [ask('alice', 'list', 'pods', 'n'), 'allow'],
  [ask('alice', 'get', 'nodes'), 'allow'],
  [ask('alice', 'create', 'pods', 'n'), 'none'],
  [ask('alice', 'get', '/logs'), 'none'],
  [ask('bob', 'delete', 'pods', 'n'), 'allow'],
  [ask('bob', 'delete', 'pods', 'm'), 'none'],
  [ask('bob', 'delete', 'pods.apps', 'n'), 'none'],
  [ask('carol,ops', 'get', '/logs/x'), 'allow'],
  [ask('carol', 'get', '/logs/x'), 'none'],
  [ask('dave,ops', 'get', '/logs/x'), 'none'],
  [ask('dave,system:authenticated', 'get', '/version'), 'allow'],
  [ask('system:anonymous,system:unauthenticated', 'get', '/version'), 'none'],
  [ask('old', 'delete', 'anything.at.all', 'n'), 'allow'],
  [ask('old', 'get', '/version'), 'none'],
]
for (const [attributes, expected] of cases) {
  const { user, verb, resource, path, namespace } = attributes
  test(`${user.name} ${user.groups} ${verb} ${resource || path} ${namespace}: ${expected}`, () => {
    const decision = new AbacAuthorizer(file, 'p.jsonl').authorize(attributes)
    assert.equal(decision.decision, expected)
    assert.equal(decision.reason, expected === 'allow' ? '' : 'No policy matched.')
  })
}

const bad: [string, RegExp][] = [
  ['\n{"user":', /error reading policy file p\.jsonl, line 2: /],
  ['[]', /line 1/],
  [policy({ user: 3 }), /user must be a string/],
  [policy({ user: 'a', readonly: 'yes' }), /readonly must be a boolean/],
  ['{"apiVersion":"v1","kind":"Pod"}', /line 1/],
]
for (const [text, error] of bad)
  test(`refused at start: ${text}`, () =>
    assert.throws(() => new AbacAuthorizer(text, 'p.jsonl'), error))

test('rules', () => {
  const alice = { name: 'alice', uid: '', groups: ['system:authenticated'], extra: {} }
  const { resourceRules, nonResourceRules } = new AbacAuthorizer(file, 'f').rulesFor(alice, 'n')
  assert.deepEqual(resourceRules, [
    { verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['*'] },
  ])
  assert.deepEqual(nonResourceRules, [])
})
