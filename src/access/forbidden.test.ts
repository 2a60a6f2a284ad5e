import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from './authorize.ts'
import { forbidden, EarlyRefusal, earlyForbidden } from './forbidden.ts'

const base: Attributes = {
  user: { name: 'x', uid: '', groups: [], extra: {} },
  verb: 'list',
  isResource: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'y',
  name: '',
  path: '',
}

const cases: [Partial<Attributes>, string, string][] = [
  [
    {},
    '',
    'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "y"',
  ],
  [
    { verb: 'get', name: 'a', subresource: 'log' },
    '',
    'pods "a" is forbidden: User "x" cannot get resource "pods/log" in API group "" in the namespace "y"',
  ],
  [
    { group: 'apps', resource: 'deployments', namespace: '' },
    'why',
    'deployments.apps is forbidden: User "x" cannot list resource "deployments" in API group "apps" at the cluster scope: why',
  ],
  [
    { isResource: false, verb: 'get', resource: '', namespace: '', path: '/metrics' },
    '',
    'forbidden: User "x" cannot get path "/metrics"',
  ],
  [
    { isResource: false, verb: 'get', resource: '', path: '/<script>&"%d%%%' },
    '',
    'forbidden: User "x" cannot get path "/&lt;script&gt;&amp;\\"%!d(MISSING)%%!"(MISSING)',
  ],
]
for (const [change, reason, message] of cases)
  test(message, () => {
    const error = forbidden({ ...base, ...change }, reason)
    assert.equal(error.message, message)
    assert.equal(error.code, 403)
    assert.equal(error.reason, 'Forbidden')
    const outside = earlyForbidden({ ...base, ...change }, reason)
    assert.ok(outside instanceof EarlyRefusal)
    assert.deepEqual(outside.status(), error.status())
  })

test('a non-resource path has no group', () => {
  const path = { isResource: false, verb: 'get', group: 'batch', resource: '', path: '/apis/batch' }
  assert.equal(forbidden({ ...base, ...path }, '').details?.group, undefined)
})
