import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '#admission/requests.suite.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Kind } from '#kinds/kind.ts'
import { entryOf } from '#watchcache/picture.suite.ts'
import { convertedUncached, insertedText, pathOf } from './represent.ts'

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

test('a revision of 0 is omitted', () => {
  const view = { namespace: 'ns', name: 'a' }
  assert.equal(insertedText(pods, { ...view, revision: 7 }), ',"resourceVersion":"7"')
  assert.equal(insertedText(pods, { ...view, revision: 0 }), '')
  assert.equal(insertedText(pods, { ...view, revision: undefined }), '')
})

test('a conversion for one reader serves another reader meanwhile', async () => {
  const kinds = ['g/v1', 'g/v2', 'g/v3'].map(
    (apiVersion) => ({ apiVersion, kind: 'Thing' }) as Kind,
  )
  const [, , third] = kinds as [Kind, Kind, Kind]
  const parse = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString())
  const [a, b] = ['g/v1', 'g/v2'].map((apiVersion, i) => ({ ...entryOf(`o${i}`, i), apiVersion }))
  let requested = 0
  let meanwhile: (() => Promise<unknown>) | undefined
  const resource = {
    kindOf: (version: string) => kinds.find(({ apiVersion }) => apiVersion === version),
    sameShape: () => false,
    async convert(objects: KubeObject[], from: Kind) {
      const turn = ++requested
      // Another reader requests the first object while the second is converted, and waits longer.
      if (from.apiVersion === 'g/v2') void meanwhile?.()
      await new Promise((resolve) => setTimeout(resolve, turn > 2 ? 50 : 5))
      return objects
    },
  }
  for (const kind of kinds) Object.assign(kind, { resource })
  meanwhile = () => convertedUncached(third, [a], parse)
  const views = await convertedUncached(third, [a, b], parse)
  assert.deepEqual(
    views.map(({ cut, apiVersion }) => [Buffer.isBuffer(cut.bytes), apiVersion]),
    [
      [true, 'g/v3'],
      [true, 'g/v3'],
    ],
  )
})
