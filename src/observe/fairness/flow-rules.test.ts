/** Which users and requests a rule of a flow schema matches. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileRule, type FlowRequest } from './flow-rules.ts'

const alice = { name: 'alice', groups: ['dev', 'system:authenticated'] }
const account = { name: 'system:serviceaccount:ns:sa', groups: [] }

const subjects: [subject: object, user: typeof alice, expected: boolean][] = [
  [{ kind: 'User', user: { name: 'alice' } }, alice, true],
  [{ kind: 'User', user: { name: '*' } }, alice, true],
  [{ kind: 'User', user: { name: 'bob' } }, alice, false],
  [{ kind: 'User' }, alice, false],
  [{ kind: 'Group', group: { name: 'dev' } }, alice, true],
  [{ kind: 'Group', group: { name: 'ops' } }, alice, false],
  [{ kind: 'Group', group: { name: '*' } }, { name: 'x', groups: [] }, true],
  [{ kind: 'Group' }, alice, false],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'ns', name: 'sa' } }, account, true],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'ns', name: '*' } }, account, true],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } }, account, false],
  [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'ns', name: 's' } }, account, false],
  [{ kind: 'ServiceAccount' }, account, false],
  [{ kind: 'Other', user: { name: '*' } }, alice, false],
]
for (const [subject, user, expected] of subjects) {
  test(`${JSON.stringify(subject)} is about ${user.name}: ${expected}`, () => {
    assert.equal(compileRule({ subjects: [subject] }).concerns(user), expected)
  })
}

const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }
const get: FlowRequest = {
  isResource: true,
  verb: 'get',
  group: 'apps',
  resource: 'deployments',
  subresource: '',
  namespace: 'ns',
  path: '/apis/apps/v1/namespaces/ns/deployments/d',
}
const resources: [rule: object, request: Partial<FlowRequest>, expected: boolean][] = [
  [all, {}, true],
  [{ ...all, verbs: ['list', 'get'] }, {}, true],
  [{ ...all, verbs: ['list'] }, {}, false],
  [{ ...all, verbs: [] }, {}, false],
  [{ ...all, apiGroups: ['apps'] }, {}, true],
  [{ ...all, apiGroups: [''] }, {}, false],
  [{ ...all, resources: ['deployments'] }, {}, true],
  [{ ...all, resources: ['deployments'] }, { subresource: 'scale' }, false],
  [{ ...all, resources: ['deployments/scale'] }, { subresource: 'scale' }, true],
  [all, { subresource: 'scale' }, true],
  [{ ...all, namespaces: ['ns'] }, {}, true],
  [{ ...all, namespaces: ['other'] }, {}, false],
  // Cluster-scoped requests need their own setting.
  [all, { namespace: '' }, false],
  [{ ...all, clusterScope: true }, { namespace: '' }, true],
  [{ ...all, clusterScope: true, namespaces: [] }, { namespace: '' }, true],
  [{ ...all, clusterScope: true, namespaces: [] }, {}, false],
  // A rule for resources does not match paths.
  [all, { isResource: false, path: '/version' }, false],
]
for (const [rule, request, expected] of resources) {
  test(`${JSON.stringify(rule)} speaks of ${JSON.stringify(request)}: ${expected}`, () => {
    const compiled = compileRule({ resourceRules: [rule] })
    assert.equal(compiled.matches({ ...get, ...request }), expected)
  })
}

const paths: [urls: string[], path: string, expected: boolean][] = [
  [['*'], '/anything', true],
  [['/healthz'], '/healthz', true],
  [['/healthz'], '/healthz/ping', true],
  [['/healthz'], '/healthzz', false],
  [['/healthz/*'], '/healthz/ping', true],
  [['/healthz/*'], '/healthz', false],
  [[], '/healthz', false],
]
for (const [nonResourceURLs, path, expected] of paths) {
  test(`[${nonResourceURLs}] speaks of ${path}: ${expected}`, () => {
    const compiled = compileRule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] })
    const request = { ...get, isResource: false, path }
    assert.equal(compiled.matches(request), expected)
    assert.equal(compiled.matches({ ...request, verb: 'post' }), false)
    assert.equal(compiled.matches({ ...request, isResource: true }), false)
  })
}

test('an empty rule matches no user and no resource', () => {
  const rule = compileRule({})
  assert.equal(rule.concerns(alice), false)
  assert.equal(rule.matches(get), false)
})
