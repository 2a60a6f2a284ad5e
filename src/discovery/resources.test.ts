import assert from 'node:assert/strict'
import test from 'node:test'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import type { Kind } from '#kinds/kind.ts'
import { kindsOfRelease } from './kinds-of-facts.suite.ts'
import { apiResourceList } from './resources.ts'

const listOf = (release: number, group: string, version: string) =>
  apiResourceList(
    group,
    version,
    kindsOfRelease(release).filter((kind) => kind.group === group && kind.version === version),
    release,
  )

test('a group version lists its resources and their subresources by name', () => {
  const list = listOf(22, 'apps', 'v1')
  assert.equal(list.apiVersion, 'v1')
  assert.equal(list.groupVersion, 'apps/v1')
  assert.deepEqual(
    list.resources.map(({ name }) => name),
    [
      'controllerrevisions',
      'daemonsets',
      'daemonsets/status',
      'deployments',
      'deployments/scale',
      'deployments/status',
      'replicasets',
      'replicasets/scale',
      'replicasets/status',
      'statefulsets',
      'statefulsets/scale',
      'statefulsets/status',
    ],
  )
  assert.deepEqual(list.resources[3], {
    name: 'deployments',
    singularName: '',
    namespaced: true,
    kind: 'Deployment',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['deploy'],
    categories: ['all'],
    storageVersionHash: '8aSe+NMegvE=',
  })
  assert.deepEqual(list.resources[4], {
    name: 'deployments/scale',
    singularName: '',
    namespaced: true,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  })
})

checkBoundaries<string, string[]>(
  (release, group) =>
    listOf(release, group, 'v1')
      .resources.filter(({ name }) => !name.includes('/'))
      .map(({ singularName }) => singularName),
  [
    [
      'singular names',
      [26, 27],
      'apps',
      ['', '', '', '', ''],
      ['controllerrevision', 'daemonset', 'deployment', 'replicaset', 'statefulset'],
    ],
  ],
)

test('the oldest groups omit apiVersion', () => {
  assert.equal(listOf(22, '', 'v1').apiVersion, undefined)
  assert.equal(listOf(21, 'extensions', 'v1beta1').apiVersion, undefined)
})

test('a resource that is never stored has no hash', () => {
  const { resources } = listOf(22, '', 'v1')
  const hashOf = (name: string) => resources.find((one) => one.name === name)?.storageVersionHash
  assert.equal(hashOf('bindings'), undefined)
  assert.equal(hashOf('componentstatuses'), undefined)
  assert.equal(hashOf('pods'), 'xPOwRZ+Yhw8=')
})

test('a resource with only a scale omits the group version of the scale', () => {
  const { resources } = listOf(15, 'extensions', 'v1beta1')
  const shown = resources.filter(({ name }) => name.endsWith('/scale'))
  assert.deepEqual(
    shown.map(({ name, version }) => [name, version]),
    [
      ['deployments/scale', 'v1beta1'],
      ['replicasets/scale', 'v1beta1'],
      ['replicationcontrollers/scale', undefined],
    ],
  )
})

test('a custom kind shows its singular name and its verbs in the order it gives them', () => {
  const widget = {
    group: 'example.com',
    version: 'v1',
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    plural: 'widgets',
    singular: 'widget',
    shortNames: [],
    categories: [],
    namespaced: true,
    origin: 'custom',
    formats: new Set(['json', 'yaml']),
    decoding: 'free',
    verbs: new Set(['delete', 'get', 'create', 'watch']),
    subresources: new Map([
      [
        'status',
        { name: 'status', apiVersion: 'example.com/v1', kind: 'Widget', verbs: new Set(['get']) },
      ],
    ]),
    resource: { stored: { group: 'example.com', version: 'v1', kind: 'Widget' } },
  } as unknown as Kind
  const [resource, status] = apiResourceList('example.com', 'v1', [widget], 22).resources
  assert.equal(resource.singularName, 'widget')
  assert.deepEqual(resource.verbs, ['delete', 'get', 'create', 'watch'])
  assert.deepEqual(status, {
    name: 'widgets/status',
    singularName: '',
    namespaced: true,
    kind: 'Widget',
    verbs: ['get'],
  })
})
