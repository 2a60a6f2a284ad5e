import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Context } from '#kinds/kind.ts'
import { customBehaviour } from './behaviour.ts'

const behaviour = customBehaviour({
  hasStatus: (apiVersion) => apiVersion === 'example.com/v1',
  anyStatus: true,
  selectable: [],
  release: releaseOf(37),
  defaultStatus: (object) => {
    object.status ??= { by: 'default' }
  },
  seenAs: (object) => object,
})
const context = (version: string) => ({ requestApiVersion: `example.com/${version}` }) as Context
const gear = (spec: Loose, status?: Loose, metadata: Loose = {}): KubeObject => ({
  kind: 'Gear',
  apiVersion: 'example.com/v1',
  metadata: { name: 'g', generation: 1, ...metadata },
  spec,
  ...(status !== undefined && { status }),
})
const bodyOf = ({ spec, status, metadata }: KubeObject) => [spec, status, metadata.generation]

test('a new object has a generation, and a status only without the status subresource', () => {
  for (const [version, status] of [
    ['v1', { by: 'default' }],
    ['v2', { by: 'user' }],
  ] as const) {
    const made = gear({ n: 1 }, { by: 'user' }, { generation: 7 })
    behaviour.prepareForCreate?.(made, context(version))
    assert.deepEqual(bodyOf(made), [{ n: 1 }, status, 1], version)
  }
})

/** The old and new object, the version, and the result: spec, status and generation. */
const updates: readonly [what: string, version: string, next: KubeObject, body: unknown[]][] = [
  ['nothing', 'v1', gear({ n: 1 }, { s: 1 }), [{ n: 1 }, { s: 1 }, 1]],
  ['a status', 'v1', gear({ n: 1 }, { s: 2 }), [{ n: 1 }, { s: 1 }, 1]],
  ['a status where it is a field', 'v2', gear({ n: 1 }, { s: 2 }), [{ n: 1 }, { s: 2 }, 2]],
  ['no status', 'v1', gear({ n: 1 }), [{ n: 1 }, { s: 1 }, 1]],
  ['a spec', 'v1', gear({ n: 2 }, { s: 2 }), [{ n: 2 }, { s: 1 }, 2]],
  ['a label', 'v1', gear({ n: 1 }, {}, { labels: { a: 'b' } }), [{ n: 1 }, { s: 1 }, 1]],
]
for (const [what, version, next, body] of updates) {
  test(`an update of ${what} in ${version}`, () => {
    behaviour.prepareForUpdate?.(next, gear({ n: 1 }, { s: 1 }), context(version))
    assert.deepEqual(bodyOf(next), body)
  })
}

const prepareStatus = (next: KubeObject, old: KubeObject) =>
  behaviour.subresources?.status?.prepareForUpdate?.(next, old, context('v1'))

test('an update of the status changes only the status and managedFields', () => {
  const owners = [{ manager: 'm' }]
  const next = gear({ n: 2 }, { s: 2 }, { labels: { a: 'b' }, managedFields: owners })
  prepareStatus(next, gear({ n: 1 }, { s: 1 }, { annotations: { c: 'd' } }))
  const metadata = { annotations: { c: 'd' }, managedFields: owners }
  assert.deepEqual(next, gear({ n: 1 }, { s: 2 }, metadata))
  const without = gear({ n: 2 })
  prepareStatus(without, gear({ n: 1 }, { s: 1 }, { managedFields: owners }))
  assert.deepEqual(without, gear({ n: 1 }))
})

test('an update to an equal status changes nothing', () => {
  const one = gear({ n: 1 }, { s: 1 }, { labels: { a: 'b' } })
  const before = structuredClone(one)
  prepareStatus(one, one)
  assert.deepEqual(one, before)
})

test('values of selectable fields are texts', () => {
  const selecting = customBehaviour({
    hasStatus: () => false,
    anyStatus: true,
    selectable: ['spec.size', 'spec.on', 'spec.inner.name', 'spec.inner'],
    release: releaseOf(36),
    defaultStatus: () => {},
    seenAs: (object) => object,
  })
  const values = (spec: Loose) => selecting.selectableFields?.(gear(spec))
  assert.deepEqual(values({ size: 2, on: false, inner: { name: 'a' } }), {
    'spec.size': '2',
    'spec.on': 'false',
    'spec.inner.name': 'a',
    'spec.inner': '',
  })
  assert.deepEqual(Object.values(values({}) ?? {}), ['', '', '', ''])
})

test('a write to the status owns no metadata since 1.36', () => {
  const resets = (minor: number) => {
    const { subresources } = customBehaviour({
      hasStatus: () => true,
      anyStatus: true,
      selectable: [],
      release: releaseOf(minor),
      defaultStatus: () => {},
      seenAs: (object) => object,
    })
    return subresources?.status?.resetFields
  }
  assert.deepEqual([resets(35), resets(36)], [[['spec']], [['metadata'], ['spec']]])
})
