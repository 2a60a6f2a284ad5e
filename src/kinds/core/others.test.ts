import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCreate, checkUpdate, contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { leaseBehaviour } from '#kinds/coordination/lease/behaviour.ts'
import { priorityClassBehaviour } from '#kinds/scheduling/priority-class/behaviour.ts'
import { storageVersionBehaviour } from '#kinds/internal-apiserver/storage-version/behaviour.ts'

checkCreate(priorityClassBehaviour, [
  ['up to a billion', named({ value: 1000000000 }), []],
  [
    'and no further',
    named({ value: 1000000001 }),
    ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
  ],
  [
    'system names are the system’s',
    named({ value: 1 }, { name: 'system-x' }),
    [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-x is not a known system priority class",
    ],
  ],
  [
    'its own classes may be there',
    named({ value: 2000001000 }, { name: 'system-node-critical' }),
    [],
  ],
])
checkUpdate(priorityClassBehaviour, [
  [
    'value and preemption stay',
    named({ value: 1, preemptionPolicy: 'Never' }),
    named({ value: 2, preemptionPolicy: 'PreemptLowerPriority' }),
    [
      'Value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable',
    ],
  ],
])

checkUpdate(priorityClassBehaviour, [
  [
    'since 1.25 the path is exact',
    named({ value: 1 }),
    named({ value: 2 }),
    ['value: Forbidden: may not be changed in an update.'],
    contextFor({ release: 25 }),
  ],
])

const since24 = contextFor({ release: 24 })
checkCreate(leaseBehaviour, [
  [
    'since 1.24 in a right sentence',
    named({ spec: { leaseTransitions: -1 } }),
    ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
    since24,
  ],
  [
    'a holder is preferred by a strategy',
    named({ spec: { preferredHolder: 'a' } }),
    ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'],
    since24,
  ],
  [
    'which is known',
    named({ spec: { strategy: 'a' } }),
    ['spec.strategy.strategy: Unsupported value: "a": supported values: "OldestEmulationVersion"'],
    since24,
  ],
  ['or has a domain', named({ spec: { strategy: 'a.b/c', preferredHolder: 'd' } }), [], since24],
])
test('without the feature gate a lease has no strategy', () => {
  const prepared = (gates: string[]) => {
    const object = named({ spec: { strategy: 'a', preferredHolder: 'b' } })
    leaseBehaviour.prepareForCreate?.(object, contextFor({}, gates))
    return object.spec
  }
  assert.deepEqual(prepared([]), {})
  assert.deepEqual(prepared(['CoordinatedLeaderElection']), { strategy: 'a', preferredHolder: 'b' })
})

checkCreate(leaseBehaviour, [
  ['a lease lasts', named({ spec: { leaseDurationSeconds: 1, leaseTransitions: 0 } }), []],
  [
    'or is invalid',
    named({ spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
    [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must to greater or equal than 0',
    ],
  ],
])

const server = (id: string, encodingVersion: string, decodableVersions = [encodingVersion]) => ({
  apiServerID: id,
  encodingVersion,
  decodableVersions,
})
checkCreate(storageVersionBehaviour, [
  ['no server reports a version', named({ status: {} }), []],
  [
    'commonEncodingVersion is required if servers agree',
    named({ status: { storageVersions: [server('a', 'apps/v1'), server('b', 'apps/v1')] } }),
    ['status.commonEncodingVersion: Invalid value: "null": the common encoding version is apps/v1'],
  ],
  [
    'a server reads what it writes',
    named({
      status: { storageVersions: [server('a', 'v1', ['v2'])], commonEncodingVersion: 'v1' },
    }),
    [
      'status.storageVersions[0].decodableVersions: Invalid value: []string{"v2"}: decodableVersions must include encodingVersion v1',
    ],
  ],
])
test('a storage version is named by group and resource', () => {
  assert.deepEqual(storageVersionBehaviour.nameRule?.('apps.deployments', false), [])
  assert.deepEqual(storageVersionBehaviour.nameRule?.('deployments', false), [
    'name must be in the form of <group>.<resource>',
  ])
})
