import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'

const withFinalizers = (...finalizers: string[]) => ({ metadata: { finalizers } }) as KubeObject

const start = 'prefer a domain-qualified finalizer name'
const end = 'to avoid accidental conflicts with other finalizer writers'
const plain = `metadata.finalizers: "plain": ${start} ${end}`
const path = `metadata.finalizers: "a.b": ${start} including a path (/) ${end}`
const noPath = `metadata.finalizers: "a.b": ${start} ${end}`

const rows: [minor: number, finalizers: string[], warnings: string[]][] = [
  [28, ['plain', 'a.b'], []],
  [29, ['plain', 'a.b'], [noPath, plain]],
  [31, ['a.b'], [noPath]],
  [32, ['plain', 'a.b'], [path, plain]],
  [37, ['orphan', 'foregroundDeletion', 'kubernetes', 'a.b/c'], []],
]
for (const [minor, finalizers, warnings] of rows)
  test(`1.${minor}: ${finalizers.join(' ')}`, () => {
    const object = withFinalizers(...finalizers)
    assert.deepEqual(finalizerWarnings(object, undefined, releaseOf(minor)), warnings)
  })

test('a finalizer that is no qualified name has its problems reported too', () => {
  const [problem, ...more] = finalizerWarnings(withFinalizers('_'), undefined, releaseOf(37))
  assert.match(problem, /^metadata.finalizers: "_": name part must consist of alphanumeric/)
  assert.deepEqual(more, [plain.replace('plain', '_')])
})

test('finalizers that the object had before are not reported', () => {
  const [old, next] = [withFinalizers('plain'), withFinalizers('plain', 'a.b')]
  assert.deepEqual(finalizerWarnings(next, old, releaseOf(37)), [path])
})
