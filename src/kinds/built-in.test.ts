import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { builtInResources } from './built-in.ts'
import { loadFacts } from './facts.ts'
import { featureGates } from './feature-gates.ts'
import type { Resource } from './kind.ts'

const folder = join(import.meta.dirname, '..', '..', 'facts')
const facts = loadFacts((name) => readFileSync(join(folder, name), 'utf8'))
const table = JSON.parse(readFileSync(join(folder, 'features.json'), 'utf8'))
const inRelease = new Map<number, Resource[]>()
function resourceOf(release: number, group: string, plural: string): Resource | undefined {
  const options = { release, feature: () => true, root: '/registry' }
  const all =
    inRelease.get(release) ??
    builtInResources(facts, { ...options, serves: ({ off, alpha }) => !off && !alpha })
  inRelease.set(release, all)
  return all.find((one) => one.group === group && one.plural === plural)
}

type Row = [
  release: number,
  group: string,
  plural: string,
  served: string,
  stored: string,
  hub: string,
  errorGroup: string,
  prefix: string,
]
const rows: Row[] = [
  [22, '', 'services', 'v1', 'v1', 'v1', '', '/registry/services/specs'],
  [22, '', 'nodes', 'v1', 'v1', 'v1', '', '/registry/minions'],
  [22, 'apps', 'deployments', 'apps/v1', 'apps/v1', 'apps/v1', 'apps', '/registry/deployments'],
  [
    15,
    'apps',
    'deployments',
    'apps/v1 apps/v1beta1 apps/v1beta2 extensions/v1beta1',
    'apps/v1',
    'apps/v1',
    'apps',
    '/registry/deployments',
  ],
  [
    22,
    'autoscaling',
    'horizontalpodautoscalers',
    'autoscaling/v1 autoscaling/v2beta1 autoscaling/v2beta2',
    'autoscaling/v1',
    'autoscaling/v2beta2',
    'autoscaling',
    '/registry/horizontalpodautoscalers',
  ],
  [
    21,
    'batch',
    'cronjobs',
    'batch/v1 batch/v1beta1',
    'batch/v1beta1',
    'batch/v1',
    'batch',
    '/registry/cronjobs',
  ],
  [
    22,
    'networking.k8s.io',
    'ingresses',
    'networking.k8s.io/v1',
    'networking.k8s.io/v1',
    'networking.k8s.io/v1',
    'extensions',
    '/registry/ingress',
  ],
  [
    22,
    '',
    'events',
    'v1 events.k8s.io/v1 events.k8s.io/v1beta1',
    'v1',
    'v1',
    '',
    '/registry/events',
  ],
]
for (const [release, group, plural, served, stored, hub, errorGroup, prefix] of rows) {
  test(`1.${release}: ${plural} of ${group || 'core'}`, () => {
    const found = resourceOf(release, group, plural)
    assert.ok(found)
    const versions = found.kinds.map(({ apiVersion }) => apiVersion)
    assert.deepEqual(versions.sort(), served.split(' ').sort())
    assert.equal(found.stored.apiVersion, stored)
    assert.equal(found.hub.apiVersion, hub)
    assert.equal(found.errorGroup, errorGroup)
    assert.equal(found.storagePrefix, prefix)
  })
}

const claimVersions: [release: number, stored: string][] = [
  [31, 'v1alpha3'],
  [32, 'v1beta1'],
  [33, 'v1beta1'],
  [34, 'v1beta2'],
  [35, 'v1'],
  [37, 'v1'],
]
for (const [release, stored] of claimVersions)
  test(`1.${release} stores claims and slices as ${stored}; their rules run in v1`, () => {
    const options = { release, feature: () => true, root: '/registry', serves: () => true }
    const all = builtInResources(facts, options)
    for (const plural of ['resourceclaims', 'resourceclaimtemplates', 'resourceslices']) {
      const found = all.find((one) => one.plural === plural)
      assert.equal(found?.stored.apiVersion, `resource.k8s.io/${stored}`)
      assert.equal(found?.hub.apiVersion, 'resource.k8s.io/v1')
    }
  })

test('a release can decode versions that it does not serve', () => {
  const found = resourceOf(22, 'apps', 'deployments')
  assert.equal(found?.kindOf('extensions/v1beta1')?.apiVersion, 'extensions/v1beta1')
  assert.equal(found?.kindOf('example.com/v1'), undefined)
})

const pathRows: [release: number, given: Record<string, boolean>, carries: boolean][] = [
  [15, {}, true],
  [19, {}, true],
  [19, { RemoveSelfLink: true }, false],
  [20, {}, false],
  [22, {}, false],
  [22, { RemoveSelfLink: false }, true],
]
for (const [release, given, carries] of pathRows) {
  test(`whether objects carry their path is up to a gate: 1.${release} ${JSON.stringify(given)}`, () => {
    const gates = featureGates(table, release, new Map(Object.entries(given)))
    assert.ok('enabled' in gates)
    const options = { release, feature: gates.enabled, root: '/registry', serves: () => true }
    const [{ hub }] = builtInResources(facts, options)
    assert.equal(hub.selfLinks === true, carries)
  })
}

test('a resource that is never stored has no storage prefix', () => {
  for (const [group, plural] of [
    ['', 'componentstatuses'],
    ['authentication.k8s.io', 'tokenreviews'],
  ] as const)
    assert.equal(resourceOf(22, group, plural)?.storagePrefix, '')
})

test('objects can be CBOR where its gate is on', () => {
  const formatsOf = (isOn: boolean) => {
    const feature = (gate: string) => gate === 'CBORServingAndStorage' && isOn
    const options = { release: 37, feature, root: '/registry', serves: () => true }
    return [...builtInResources(facts, options)[0].hub.formats]
  }
  assert.deepEqual(formatsOf(false), ['json', 'yaml', 'protobuf'])
  assert.deepEqual(formatsOf(true), ['json', 'yaml', 'protobuf', 'cbor'])
})
