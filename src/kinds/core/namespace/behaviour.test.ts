import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCreate, contextFor, linesOf, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { namespaceBehaviour } from './behaviour.ts'

const context = contextFor({}, ['NamespaceDefaultLabelName'])

test('a new namespace is active, has the finalizer kubernetes, and a label with its name', () => {
  const object = named({ spec: { finalizers: ['x.io/y'] }, status: { phase: 'Odd' } })
  namespaceBehaviour.prepareForCreate?.(object, context)
  assert.deepEqual(object.status, { phase: 'Active' })
  assert.deepEqual(object.spec.finalizers, ['x.io/y', 'kubernetes'])
  assert.deepEqual(object.metadata.labels, { 'kubernetes.io/metadata.name': 'a' })
})

test('an update changes neither finalizers nor status, and cannot remove the label', () => {
  const next = named({ spec: {}, status: {} })
  const old = named({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } })
  namespaceBehaviour.prepareForUpdate?.(next, old, context)
  assert.deepEqual(next.spec, { finalizers: ['kubernetes'] })
  assert.deepEqual(next.status, { phase: 'Active' })
  assert.deepEqual(next.metadata.labels, { 'kubernetes.io/metadata.name': 'a' })
})

checkCreate(namespaceBehaviour, [
  [
    'finalizers have a domain, or are Kubernetes’ own',
    named({ spec: { finalizers: ['kubernetes', 'odd'] } }),
    [
      'spec.finalizers: Invalid value: "odd": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ],
])

const phases: [string, string | undefined, string[]][] = [
  ['Active', undefined, []],
  ['Terminating', '2024-01-01T00:00:00Z', []],
  [
    'Terminating',
    undefined,
    [
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ],
  ],
]
for (const [phase, deletionTimestamp, expected] of phases) {
  test(`phase ${phase} of a namespaceBehaviour deleted at ${deletionTimestamp}`, () => {
    const object = named({ status: { phase } }, { deletionTimestamp })
    const errors =
      namespaceBehaviour.subresources?.status?.validateUpdate?.(object, object, context) ?? []
    assert.deepEqual(linesOf(errors), expected)
  })
}

test('namespaces are selected by phase', () => {
  const fields = namespaceBehaviour.selectableFields?.(named({ status: { phase: 'Active' } }))
  assert.deepEqual(fields, { 'status.phase': 'Active' })
})
