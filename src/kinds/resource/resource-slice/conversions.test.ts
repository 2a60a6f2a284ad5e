import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { resourceSliceConversions } from './conversions.ts'

function converted(way: 'toHub' | 'fromHub', version: string, spec: Loose): Loose {
  const conversion = resourceSliceConversions[`resource.k8s.io/${version}`]
  const slice = { metadata: {}, spec: structuredClone(spec) }
  return conversion?.[way](slice as KubeObject, 33).spec
}

const attributes = { 'a.b/c': { string: 'd' } }
const others = {
  consumesCounters: [{ counterSet: 's', counters: { c: { value: '1' } } }],
  nodeName: 'n',
  taints: [{ key: 'k', effect: 'NoSchedule' }],
  bindsToNode: true,
  bindingConditions: ['a'],
  bindingFailureConditions: ['b'],
  allowMultipleAllocations: true,
  nodeAllocatableResources: { cpu: { quantity: '1' } },
}
const memory = { memory: { value: '1Gi' } }
const ofNode = { driver: 'd.e', nodeName: 'n' }

/** A spec of the version, and the same in v1. */
const rows: [title: string, version: string, older: Loose, hub: Loose][] = [
  [
    'all fields of a device',
    'v1beta1',
    { devices: [{ name: 'a', basic: { attributes, capacity: memory, ...others } }] },
    { devices: [{ name: 'a', attributes, capacity: memory, ...others }] },
  ],
  [
    'a capacity that is a quantity',
    'v1alpha3',
    { devices: [{ name: 'a', basic: { attributes, capacity: { memory: '1Gi' } } }] },
    { devices: [{ name: 'a', attributes, capacity: memory }] },
  ],
  ...['v1beta1', 'v1alpha3'].map((version): [string, string, Loose, Loose] => [
    'a device without fields, and a node',
    version,
    { ...ofNode, devices: [{ name: 'a', basic: {} }] },
    { ...ofNode, devices: [{ name: 'a' }] },
  ]),
  ['no devices', 'v1beta1', { driver: 'd.e' }, { driver: 'd.e' }],
]
for (const [title, version, older, hub] of rows) {
  test(`${title} of ${version}: to the hub`, () => {
    assert.deepEqual(converted('toHub', version, older), hub)
  })
  test(`${title} of ${version}: and back`, () => {
    assert.deepEqual(converted('fromHub', version, hub), older)
  })
}

test('a device without `basic` has no other fields', () => {
  const spec = { devices: [{ name: 'a' }] }
  assert.deepEqual(converted('toHub', 'v1beta1', spec), spec)
})

test('empty maps of a device are left out', () => {
  const emptied = { attributes: {}, capacity: {} }
  const spec = { devices: [{ name: 'a', ...emptied }] }
  const older = { devices: [{ name: 'a', basic: {} }] }
  assert.deepEqual(converted('fromHub', 'v1beta1', spec), older)
  const basic = { devices: [{ name: 'a', basic: emptied }] }
  assert.deepEqual(converted('toHub', 'v1beta1', basic), { devices: [{ name: 'a' }] })
})

test('v1beta1 has neither an empty node name nor a false `allNodes`', () => {
  assert.deepEqual(converted('fromHub', 'v1beta1', { nodeName: '', allNodes: false }), {})
})
