import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TableColumns } from '#kinds/table-columns.ts'
import { behaviourOf } from './rules.fixture.ts'

const columnsOf = (key: string, release: number): TableColumns | undefined =>
  behaviourOf(key, release).columns
const names = (key: string, release: number) =>
  columnsOf(key, release)?.columns.map(({ name }) => name)

const volumeColumns = ['Name', 'Capacity', 'Access Modes', 'Reclaim Policy', 'Status', 'Claim']
const claimColumns = ['Name', 'Status', 'Volume', 'Capacity', 'Access Modes', 'StorageClass']

const cases: [string, number, string[] | undefined][] = [
  ['/persistentvolumes', 28, [...volumeColumns, 'StorageClass', 'Reason', 'Age', 'VolumeMode']],
  [
    '/persistentvolumes',
    29,
    [...volumeColumns, 'StorageClass', 'VolumeAttributesClass', 'Reason', 'Age', 'VolumeMode'],
  ],
  ['/serviceaccounts', 34, ['Name', 'Secrets', 'Age']],
  ['/serviceaccounts', 35, ['Name', 'Age']],
  ['/resourcequotas', 32, ['Name', 'Age', 'Request', 'Limit']],
  ['/resourcequotas', 33, ['Name', 'Request', 'Limit', 'Age']],
  ['scheduling.k8s.io/priorityclasses', 31, ['Name', 'Value', 'Global-Default', 'Age']],
  [
    'scheduling.k8s.io/priorityclasses',
    32,
    ['Name', 'Value', 'Global-Default', 'Age', 'PreemptionPolicy'],
  ],
  ['/persistentvolumeclaims', 28, [...claimColumns, 'Age', 'VolumeMode']],
  ['/persistentvolumeclaims', 29, [...claimColumns, 'VolumeAttributesClass', 'Age', 'VolumeMode']],
  ['networking.k8s.io/ingresses', 22, ['Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age']],
  ['networking.k8s.io/ingresses', 17, ['Name', 'Hosts', 'Address', 'Ports', 'Age']],
  ['storage.k8s.io/csinodes', 17, undefined],
]
for (const [key, release, expected] of cases) {
  test(`${key} in 1.${release}`, () => assert.deepEqual(names(key, release), expected))
}

test('cells match the columns of the release', () => {
  const table = columnsOf('storage.k8s.io/storageclasses', 16)
  const object = { metadata: { name: 'fast' }, provisioner: 'x/y' }
  assert.deepEqual(table?.cells(object, 0), ['fast', 'x/y', '<unknown>'])
})

test('before 1.16 a config map shows only its text data', () => {
  const object = { metadata: { name: 'a' }, data: { a: '' }, binaryData: { b: '', c: '' } }
  const count = (release: number) => columnsOf('/configmaps', release)?.cells(object, 0)[1]
  assert.deepEqual([count(15), count(16)], [1, 3])
})

test('before 1.19 the metric of an object has no average', () => {
  const target = { averageValue: '3' }
  const metrics = ['object', 'external'].map((name) => ({
    type: name === 'object' ? 'Object' : 'External',
    [name]: { target },
  }))
  const object = { metadata: { name: 'a' }, spec: { metrics } }
  const shown = (release: number) =>
    columnsOf('autoscaling/horizontalpodautoscalers', release)?.cells(object, 0)[2]
  assert.equal(shown(19), '<unknown>/3 (avg), <unknown>/3 (avg)')
  assert.equal(shown(18), '<unknown>/0, <unknown>/3 (avg)')
})

test('before 1.22 no mode is for a single pod', () => {
  const modes = { accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] }
  const volume = { metadata: { name: 'a' }, spec: modes }
  const claim = { metadata: { name: 'a' }, spec: { volumeName: 'a' }, status: modes }
  const shown = (release: number) => [
    columnsOf('/persistentvolumes', release)?.cells(volume, 0)[2],
    columnsOf('/persistentvolumeclaims', release)?.cells(claim, 0)[4],
  ]
  assert.deepEqual(shown(22), ['ROX,RWOP', 'ROX,RWOP'])
  assert.deepEqual(shown(21), ['ROX', 'ROX'])
})

test('before 1.37 each storage class that is marked is the default', () => {
  const at = (name: string, second: number, isMarked = true) => ({
    metadata: {
      name,
      creationTimestamp: `2021-01-01T00:00:0${second}Z`,
      ...(isMarked && { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }),
    },
  })
  const classes = [at('a', 1), at('b', 2), at('c', 2), at('d', 3, false)]
  const shown = (release: number) => {
    const alone = columnsOf('storage.k8s.io/storageclasses', release)
    const inList = alone?.ofList?.(classes) ?? alone
    return [alone, inList].map((table) => classes.map((one) => table?.cells(one, 0)[0]).join(' '))
  }
  const marked = 'a (default) b (default) c (default) d'
  assert.deepEqual(shown(36), [marked, marked])
  assert.deepEqual(shown(37), ['a b c d', 'a b (default) c d'])
  const none = columnsOf('storage.k8s.io/storageclasses', 37)?.ofList?.([])
  assert.equal(none?.cells(at('a', 1), 0)[0], 'a')
})
