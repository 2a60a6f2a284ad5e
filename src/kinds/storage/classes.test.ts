import {
  checkCreate,
  checkUpdate,
  contextFor,
  inDefault,
  named,
} from '#kinds/all-kinds/behaviour.suite.ts'
import { storageVersionMigrationBehaviour } from '#kinds/storagemigration/storage-version-migration/behaviour.ts'
import { csiStorageCapacityBehaviour } from './csi-storage-capacity/behaviour.ts'
import { volumeAttributesClassBehaviour } from './volume-attributes-class/behaviour.ts'

const attributes = (fields: object) => named({ driverName: 'd', parameters: { a: 'b' }, ...fields })
checkCreate(volumeAttributesClassBehaviour, [
  ['a class', attributes({}), []],
  [
    'an empty class',
    named({}),
    [
      'driverName: Required value',
      'parameters: Required value: must contain at least one key/value pair',
    ],
  ],
])
checkUpdate(volumeAttributesClassBehaviour, [
  [
    'nothing changes',
    attributes({}),
    attributes({ driverName: 'e', parameters: { a: 'c' } }),
    [
      'driverName: Forbidden: updates to driverName are forbidden.',
      'parameters: Forbidden: updates to parameters are forbidden.',
    ],
  ],
])

const capacity = inDefault({ storageClassName: 's', capacity: '-1' })
const negative = 'capacity: Invalid value: "-1": must be greater than or equal to 0'
checkCreate(csiStorageCapacityBehaviour, [
  ['1.27 checks twice', capacity, [negative, negative], contextFor({ release: 27 })],
  ['1.28 checks once', capacity, [negative], contextFor({ release: 28 })],
])

const reachable = (value: string) =>
  inDefault({
    storageClassName: 's',
    nodeTopology: { matchExpressions: [{ key: 'k', operator: 'In', values: [value] }] },
  })
const noLabel =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const wrongValue = `nodeTopology.matchExpressions[0].values[0]: Invalid value: "%": ${noLabel}`
checkCreate(csiStorageCapacityBehaviour, [
  ['1.25 takes any value', reachable('%'), [], contextFor({ release: 25 })],
  [
    '1.26 takes label values',
    reachable('%'),
    [wrongValue, wrongValue],
    contextFor({ release: 26 }),
  ],
])
checkUpdate(csiStorageCapacityBehaviour, [
  ['a value stays wrong', reachable('%'), reachable('%'), [], contextFor({ release: 37 })],
])

const migration = (resource: object, status = {}) => named({ spec: { resource }, status })
checkCreate(storageVersionMigrationBehaviour, [
  ['a migration', migration({ resource: 'pods' }), []],
  [
    'an empty migration',
    migration({}),
    ['spec.resource.resource: Required value: resource is required to be set'],
  ],
])
checkUpdate(storageVersionMigrationBehaviour, [
  [
    'the resource stays',
    migration({ resource: 'pods' }),
    migration({ resource: 'secrets' }),
    [
      'spec: Invalid value: storagemigration.StorageVersionMigrationSpec{Resource:v1.GroupResource{Group:"", Resource:"secrets"}}: field is immutable',
    ],
  ],
])
checkUpdate(
  { validateUpdate: storageVersionMigrationBehaviour.subresources?.status?.validateUpdate },
  [
    [
      'the version is set once',
      migration({ resource: 'pods' }, { resourceVersion: '5' }),
      migration({ resource: 'pods' }, { resourceVersion: '06' }),
      [
        'status.resourceVersion: Invalid value: "06": resource version is not well formed: 06',
        'status.resourceVersion: Invalid value: "06": field is immutable',
      ],
    ],
  ],
)
