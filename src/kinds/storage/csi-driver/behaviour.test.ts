import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { checkCreate, checkUpdate, contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { allDefaults } from '#kinds/all-kinds/rules.fixture.ts'
import { csiDriverBehaviour } from './behaviour.ts'

const spec = { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: 'File' }
const driver = (more: Loose = {}, generation?: number) =>
  named({ spec: { ...spec, ...more } }, generation === undefined ? {} : { generation })
const tokenRequests = [{ audience: 'a', expirationSeconds: 5 }]
const tooShort =
  'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes'
const immutable = (field: string) => `spec.${field}: Invalid value: false: field is immutable`

checkUpdate(csiDriverBehaviour, [
  [
    'before 1.30 most fields stay, and requests are checked twice since 1.23',
    driver(),
    driver({ podInfoOnMount: false, tokenRequests }),
    [tooShort, immutable('podInfoOnMount'), tooShort],
    contextFor({ release: 29 }),
  ],
  [
    'since 1.30 few do',
    driver(),
    driver({ podInfoOnMount: false, attachRequired: false, tokenRequests }),
    [tooShort, immutable('attachedRequired')],
    contextFor({ release: 30 }),
  ],
  [
    'in 1.22 the capacity stays',
    driver({ storageCapacity: true }),
    driver({ storageCapacity: false }),
    [immutable('storageCapacity')],
    contextFor({ release: 22 }),
  ],
  [
    'in 1.23 it may change',
    driver({ storageCapacity: true }),
    driver({ storageCapacity: false }),
    [],
    contextFor({ release: 23 }),
  ],
])

checkCreate(csiDriverBehaviour, [
  [
    'fields that a gate adds have defaults',
    driver(),
    ['spec.seLinuxMount: Required value', 'spec.preventPodSchedulingIfMissing: Required value'],
    contextFor({ release: 36 }, ['SELinuxMountReadWriteOncePod', 'VolumeLimitScaling']),
  ],
  [
    'periods and secrets',
    driver({ nodeAllocatableUpdatePeriodSeconds: 9, serviceAccountTokenInSecrets: true }),
    [
      'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
      'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ],
    contextFor({ release: 36 }),
  ],
])

const generations: [release: number, field: Loose, expected: number][] = [
  [29, { fsGroupPolicy: 'None' }, 1],
  [30, { fsGroupPolicy: 'None' }, 2],
  [29, { requiresRepublish: true }, 2],
]
for (const [release, field, expected] of generations) {
  test(`generation in 1.${release} after ${JSON.stringify(field)}`, () => {
    const next = driver(field, 1)
    const context = contextFor({ release, feature: () => true })
    csiDriverBehaviour.prepareForUpdate?.(next, driver({}, 1), context)
    assert.equal(next.metadata.generation, expected)
  })
}

const gates: [gate: string, field: string, value: unknown][] = [
  ['SELinuxMountReadWriteOncePod', 'seLinuxMount', true],
  ['MutableCSINodeAllocatableCount', 'nodeAllocatableUpdatePeriodSeconds', 10],
  ['CSIServiceAccountTokenSecrets', 'serviceAccountTokenInSecrets', true],
  ['VolumeLimitScaling', 'preventPodSchedulingIfMissing', true],
]
for (const [gate, field, value] of gates) {
  test(`${field} waits for ${gate}`, () => {
    const kept = (features: string[]) => {
      const object = driver({ [field]: value })
      csiDriverBehaviour.prepareForCreate?.(object, contextFor({}, features))
      return object.spec[field]
    }
    assert.deepEqual([kept([]), kept([gate])], [undefined, value])
  })
}

test('a warning recommends secrets for tokens', () => {
  const warnings = (features: string[]) =>
    csiDriverBehaviour.warningsOnCreate?.(driver({ tokenRequests }), contextFor({}, features))
  assert.deepEqual(warnings([]), [])
  assert.equal(warnings(['CSIServiceAccountTokenSecrets'])?.length, 1)
})

test('defaults of fields with a feature gate', () => {
  const filled = (features: string[]) => {
    const value: Loose = {}
    const context = { release: 36, feature: (gate: string) => features.includes(gate) }
    allDefaults['io.k8s.api.storage.v1.CSIDriverSpec']?.(value, context as never)
    return [value.seLinuxMount, value.preventPodSchedulingIfMissing]
  }
  assert.deepEqual(filled([]), [undefined, undefined])
  assert.deepEqual(filled(['SELinuxMountReadWriteOncePod', 'VolumeLimitScaling']), [false, false])
})
