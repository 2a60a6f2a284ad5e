import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedFieldsEntry } from '#api/object-meta.ts'
import { ownersFromScale, ownersOfScale, type ReplicasPaths } from './scale.ts'

const paths: ReplicasPaths = new Map([['apps/v1', ['f:spec', 'f:replicas']]])
const time = '2021-01-01T00:00:00Z'

function entry(
  manager: string,
  operation: 'Apply' | 'Update',
  apiVersion: string,
  fieldsV1: object,
  subresource?: string,
): ManagedFieldsEntry {
  return {
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource && { subresource }),
  }
}
const main = entry('main', 'Apply', 'apps/v1', { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } })
const other = entry('other', 'Update', 'apps/v1', { 'f:spec': { 'f:paused': {} } })
const gone = entry('gone', 'Update', 'apps/v0', { 'f:spec': { 'f:replicas': {} } })
const replicas = { 'f:spec': { 'f:replicas': {} } }

test('a Scale shows only managers of the replicas', () => {
  assert.deepEqual(ownersOfScale([main, other, gone], paths), [
    entry('main', 'Apply', 'autoscaling/v1', replicas),
  ])
})

test("replicas that a Scale takes over are removed from the main object's managers", () => {
  const taken = entry('scaler', 'Update', 'autoscaling/v1', replicas, 'scale')
  const { time: _, ...scaler } = entry('scaler', 'Update', 'apps/v1', replicas, 'scale')
  assert.deepEqual(ownersFromScale([main, other, gone], [taken], paths, 'apps/v1'), [
    entry('main', 'Apply', 'apps/v1', { 'f:spec': { 'f:paused': {} } }),
    scaler,
    other,
  ])
})

test('unchanged replicas keep their manager', () => {
  const kept = ownersOfScale([main, other], paths)
  assert.deepEqual(ownersFromScale([main, other], kept, paths, 'apps/v1'), [main, other])
})
