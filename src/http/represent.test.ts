import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '#admission/requests.suite.ts'
import { laidIn, pathOf } from './represent.ts'

const pods = kindOf('v1', 'pods')
const roles = kindOf('rbac.authorization.k8s.io/v1', 'roles')
const clusterRoles = kindOf('rbac.authorization.k8s.io/v1', 'clusterroles')

test('paths of objects and of collections', () => {
  const group = '/apis/rbac.authorization.k8s.io/v1'
  assert.equal(pathOf(pods, 'ns', 'a'), '/api/v1/namespaces/ns/pods/a')
  assert.equal(pathOf(pods, '', ''), '/api/v1/pods')
  assert.equal(pathOf(roles, 'ns', 'a:b'), `${group}/namespaces/ns/roles/a:b`)
  assert.equal(pathOf(clusterRoles, '', 'a:b'), `${group}/clusterroles/a%3Ab`)
  assert.equal(pathOf(roles, 'ns', 'a b!'), `${group}/namespaces/ns/roles/a%20b%21`)
  assert.equal(pathOf(clusterRoles, '', 'a b!'), `${group}/clusterroles/a+b%21`)
})

test('a revision of 0 is none', () => {
  const view = { namespace: 'ns', name: 'a' }
  assert.equal(laidIn(pods, { ...view, revision: 7 }), ',"resourceVersion":"7"')
  assert.equal(laidIn(pods, { ...view, revision: 0 }), '')
  assert.equal(laidIn(pods, { ...view, revision: undefined }), '')
})
