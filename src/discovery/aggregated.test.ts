import assert from 'node:assert/strict'
import test from 'node:test'
import { aggregatedList, aggregatedResources, aggregatedVersions } from './aggregated.ts'
import { kindsOfRelease } from './kinds-of-facts.suite.ts'
import { apiResourceList } from './resources.ts'

const endpoint = 'AggregatedDiscoveryEndpoint'
const withoutBeta = 'AggregatedDiscoveryRemoveBetaType'

for (const [release, gates, versions] of [
  [25, [], []],
  [26, [], []],
  [29, [endpoint], ['v2beta1']],
  [30, [endpoint], ['v2', 'v2beta1']],
  [32, [endpoint], ['v2', 'v2beta1']],
  [33, [endpoint, withoutBeta], ['v2']],
] as const) {
  test(`release 1.${release} with ${gates.join(' and ') || 'no gate'} has ${versions.length} forms`, () => {
    const on = new Set<string>(gates)
    assert.deepEqual(
      aggregatedVersions(release, (gate) => on.has(gate)),
      versions,
    )
  })
}

const appsOf = (release: number) =>
  apiResourceList(
    'apps',
    'v1',
    kindsOfRelease(release).filter(({ group, version }) => group === 'apps' && version === 'v1'),
    release,
  ).resources

test('a resource has its subresources, and only those of another group specify their group', () => {
  const deployments = aggregatedResources(appsOf(37)).find(
    ({ resource }) => resource === 'deployments',
  )
  const written = ['get', 'patch', 'update']
  assert.deepEqual(deployments, {
    resource: 'deployments',
    responseKind: { group: '', version: '', kind: 'Deployment' },
    scope: 'Namespaced',
    singularResource: 'deployment',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: [
      {
        subresource: 'scale',
        responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        verbs: written,
      },
      {
        subresource: 'status',
        responseKind: { group: '', version: '', kind: 'Deployment' },
        verbs: written,
      },
    ],
  })
})

test('custom resources name their own group and version', () => {
  const widget = { singularName: 'widget', namespaced: false, kind: 'Widget', verbs: ['get'] }
  const own = { group: 'example.com', version: 'v1' }
  const [found] = aggregatedResources(
    [
      { ...widget, name: 'widgets' },
      { ...widget, name: 'widgets/status' },
    ],
    own,
  )
  assert.deepEqual(found?.responseKind, { ...own, kind: 'Widget' })
  assert.deepEqual(found?.subresources?.[0]?.responseKind, { ...own, kind: 'Widget' })
  assert.equal(found?.scope, 'Cluster')
})

test('a subresource without a resource gets one', () => {
  const [found] = aggregatedResources([
    { name: 'a/b', singularName: '', namespaced: true, kind: 'B', verbs: ['create'] },
  ])
  assert.equal(found?.resource, 'a')
  assert.deepEqual(found?.verbs, [])
  assert.equal(found?.subresources?.length, 1)
})

for (const [release, metadata] of [
  [33, { name: 'apps', creationTimestamp: null }],
  [34, { name: 'apps' }],
] as const) {
  test(`a group of release 1.${release} has its name`, () => {
    const groups = new Map([['apps', []]])
    const { items } = aggregatedList('apidiscovery.k8s.io/v2', groups, release)
    assert.deepEqual(items, [{ metadata, versions: [] }])
  })
}
