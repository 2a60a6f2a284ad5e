import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '#api/object-meta.ts'
import type { Context, Kind } from '#kinds/kind.ts'
import { type Allocators, forServices } from './allocate.ts'

const kindOf = (group: string, plural: string) => ({ resource: { group, plural } }) as Kind
const object: KubeObject = { metadata: {} }

test('only services have allocators, which are loaded once and then released', () => {
  const requested: string[] = []
  const made: Allocators = {
    reserve: () => void requested.push('reserve'),
    release: () => void requested.push('release'),
    repair: async () => void requested.push('repair'),
  }
  let loads = 0
  const { reserve, release } = forServices(() => {
    loads++
    return made
  })
  const context = {} as Context
  for (const kind of [kindOf('', 'pods'), kindOf('example.com', 'services')]) {
    assert.equal(reserve(kind, object, undefined, context), undefined)
    release(kind, object)
  }
  const services = kindOf('', 'services')
  release(services, object)
  assert.deepEqual([loads, requested], [0, []])
  reserve(services, object, undefined, context)
  reserve(services, object, undefined, context)
  release(services, object)
  assert.deepEqual([loads, requested], [1, ['reserve', 'reserve', 'release']])
})

test('address objects are deleted with their service, even if no service was written before', () => {
  const deleted: unknown[] = []
  const made: Allocators = {
    reserve: () => undefined,
    release: (_kind, _object, isHeld) => void deleted.push(isHeld),
    repair: async () => {},
  }
  const services = kindOf('', 'services')
  const { release } = forServices(() => made, true)
  release(services, object, true)
  assert.deepEqual(deleted, [])
  release(services, object)
  assert.deepEqual(deleted, [undefined])
})
