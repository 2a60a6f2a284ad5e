import assert from 'node:assert/strict'
import test from 'node:test'
import { orderedGroups, priorities } from './group-order.ts'
import { apiGroup, apiGroupList, apiVersions } from './groups.ts'
import { facts, kindsOfRelease } from './kinds-of-facts.suite.ts'

const groupsOf = (release: number, more: { group: string; version: string }[] = []) =>
  orderedGroups([...kindsOfRelease(release), ...more], priorities(facts, release))

test("/api has the core version and the server's address", () => {
  assert.deepEqual(apiVersions('10.0.0.1:6443'), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
  })
})

test('/apis lists groups by priority and name, apiregistration.k8s.io first, custom ones last', () => {
  const groups = groupsOf(22, [
    { group: 'zoo.example.com', version: 'v1' },
    { group: 'acme.example.com', version: 'v1' },
  ])
  assert.deepEqual(
    apiGroupList(groups).groups.map(({ name }) => name),
    [
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'autoscaling',
      'batch',
      'certificates.k8s.io',
      'networking.k8s.io',
      'policy',
      'rbac.authorization.k8s.io',
      'storage.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'scheduling.k8s.io',
      'coordination.k8s.io',
      'node.k8s.io',
      'discovery.k8s.io',
      'flowcontrol.apiserver.k8s.io',
      'acme.example.com',
      'zoo.example.com',
    ],
  )
})

// release, group, versions in order
const versions: [number, string, string[]][] = [
  [15, 'apps', ['v1', 'v1beta2', 'v1beta1']],
  [15, 'extensions', ['v1beta1']],
  [15, 'apiregistration.k8s.io', ['v1', 'v1beta1']],
  [21, 'autoscaling', ['v1', 'v2beta1', 'v2beta2']],
  [22, 'events.k8s.io', ['v1', 'v1beta1']],
  [22, 'policy', ['v1', 'v1beta1']],
]
for (const [release, group, expected] of versions) {
  test(`1.${release} prefers ${expected[0]} of ${group}`, () => {
    const answer = apiGroup(groupsOf(release), group)
    assert.deepEqual(
      answer?.versions.map(({ version }) => version),
      expected,
    )
    assert.deepEqual(answer?.preferredVersion, {
      groupVersion: `${group}/${expected[0]}`,
      version: expected[0],
    })
  })
}

test('versions of a custom group are ordered by their names', () => {
  const names = ['v1alpha1', 'foo', 'v10', 'v2', 'v1beta1', 'bar', 'v11beta2', 'v1']
  const groups = groupsOf(
    22,
    names.map((version) => ({ group: 'example.com', version })),
  )
  assert.deepEqual(groups.get('example.com'), [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v1beta1',
    'v1alpha1',
    'bar',
    'foo',
  ])
})

test('an unserved group has no document', () => {
  assert.equal(apiGroup(groupsOf(22), 'extensions'), undefined)
})
