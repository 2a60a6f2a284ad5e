import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from '#access/authorize.ts'
import { MemoryReader } from '#access/memory-reader.suite.ts'
import type { Loose } from '#api/object-meta.ts'
import { ownerReferencesPermission } from './owner-references-permission.ts'
import { catalog, kindOf, outcome, podKind, requestOf } from './requests.suite.ts'

const mapKind = kindOf('v1', 'configmaps')
const show = ({ verb, group, version, resource, subresource, namespace, name }: Attributes) =>
  `${verb} ${group}/${version} ${resource}/${subresource} ${namespace}/${name}`

/** The listed permissions, and no others. */
const allowed = [
  'delete /v1 configmaps/ ns/deletable',
  'update /v1 pods/finalizers ns/ok',
  'update /v1 nodes/finalizers /ok',
]
const requested: string[] = []
const plugin = ownerReferencesPermission({
  authorizer: {
    name: 'Test',
    authorize: (attributes) => {
      requested.push(show(attributes))
      return { decision: allowed.includes(show(attributes)) ? 'allow' : 'none', reason: 'no' }
    },
  },
  kindNamed: (apiVersion, kind) => catalog.byKind(apiVersion, kind),
})

const ref = (more: Loose = {}) => ({ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u', ...more })
const blocking = (more: Loose = {}) => ref({ blockOwnerDeletion: true, ...more })
const object = (name: string, ...ownerReferences: Loose[]) => ({
  metadata: { name, ownerReferences },
})
const create = (...owners: Loose[]) => requestOf('CREATE', mapKind, object('m', ...owners))
const update = (name: string, before: Loose[], after: Loose[]) =>
  requestOf('UPDATE', mapKind, object(name, ...after), { old: object(name, ...before) as never })

const no = '403 configmaps "m" is forbidden: '
const held =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no, <nil>"
const undeletable = "cannot set an ownerRef on a resource you can't delete: no, <nil>"
const cases: [name: string, request: ReturnType<typeof create>, expected: string][] = [
  ['a new owner', create(ref()), 'admitted'],
  ['a new owner that is not held up', create(ref({ blockOwnerDeletion: false })), 'admitted'],
  ['a new owner that is held up', create(blocking()), `${no}${held}`],
  ['one that one may hold up', create(blocking({ name: 'ok' })), 'admitted'],
  ['one of the cluster', create(blocking({ kind: 'Node', name: 'ok' })), 'admitted'],
  [
    'one of two',
    create(blocking({ name: 'ok' }), blocking({ uid: 'v', name: 'not' })),
    `${no}${held}`,
  ],
  [
    'of an unknown kind',
    create(blocking({ kind: 'Podd' })),
    `${no}cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Podd: no matches for kind "Podd" in version "v1"`,
  ],
  ['owners left alone', update('m', [blocking()], [blocking()]), 'admitted'],
  ['an owner added', update('m', [], [ref()]), `${no}${undeletable}`],
  ['an owner taken away', update('m', [ref()], []), `${no}${undeletable}`],
  ['an owner added to what one may delete', update('deletable', [], [ref()]), 'admitted'],
  [
    'an owner held up already',
    update('deletable', [blocking()], [blocking(), ref({ uid: 'v' })]),
    'admitted',
  ],
  [
    'the same owner, held up now',
    update('deletable', [ref()], [blocking()]),
    `403 configmaps "deletable" is forbidden: ${held}`,
  ],
  [
    'another owner of that name',
    update('deletable', [blocking()], [blocking({ uid: 'v' })]),
    `403 configmaps "deletable" is forbidden: ${held}`,
  ],
  [
    'the status of a pod',
    requestOf('UPDATE', podKind, object('p', blocking()), {
      subresource: 'status',
      old: object('p') as never,
    }),
    'admitted',
  ],
  ['deletion', requestOf('DELETE', mapKind, undefined, { name: 'm' }), 'admitted'],
]
for (const [name, request, expected] of cases)
  test(name, async () => assert.equal(await outcome(plugin, request, new MemoryReader()), expected))

test('a user with permission for all finalizers needs no further check', async () => {
  allowed.push('update */* */finalizers /*')
  requested.length = 0
  assert.equal(await outcome(plugin, create(blocking()), new MemoryReader()), 'admitted')
  assert.deepEqual(requested, ['update */* */finalizers /*'])
  allowed.pop()
})
