/** Pods with very many parts must not delay other requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { processorMs } from '#base/processor-time.fixture.ts'
import { initiatorProblem } from './block-volumes.ts'
import { podBehaviour } from '#kinds/core/pod/behaviour.ts'
import { container, contextOf, podOf } from './pods.suite.ts'

const many = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))
const withVolume = (source: Loose) => ({ volumes: [{ name: 'v', ...source }] })

const rows: [what: string, spec: Loose, errors: number][] = [
  [
    'profiles of containers, which become annotations',
    {
      containers: many(5000, (i) =>
        container({
          name: `c${i}`,
          securityContext: { seccompProfile: { type: 'Unconfined' } },
        }),
      ),
    },
    0,
  ],
  [
    'beginnings of a qualified name',
    withVolume({
      iscsi: { targetPortal: 'p', lun: 1, iqn: `${'iqn.2001-04.a:'.repeat(20_000)},` },
    }),
    1,
  ],
  [
    'places of a registry',
    withVolume({ quobyte: { registry: ','.repeat(80_000), volume: 'v' } }),
    80_001,
  ],
]
for (const [what, spec, errors] of rows) {
  test(`many ${what} cost one pass`, () => {
    const object = podOf(spec)
    const took = processorMs(() => {
      podBehaviour.prepareForCreate?.(object, contextOf())
      assert.equal(podBehaviour.validateCreate?.(object, contextOf()).length, errors)
    })
    assert.ok(took < 2000, `${took} ms`)
  })
}

const names: [name: string, isOne: boolean][] = [
  ['iqn.2001-04.com.example:disk', true],
  ['iqn.2001-04.com.example:', false],
  ['iqn.2001-04.com.example::', true],
  ['iqn.2001-04.com.example', false],
  ['iqn.2001-04.:disk', false],
  ['iqn.2001-4.com:disk', false],
  ['iqn,x iqn.2001-04.a:b:c', true],
  ['iqn.2001-04.a:b c', false],
  ['iqn.2001-04.a_b:iqn.2001-04.a:b', true],
  ['iqn.2001-04.a:b\u00a0c', true],
  ['eui.0123456789abcdef', true],
  ['eui.0123', false],
]
for (const [name, isOne] of names) {
  test(`${JSON.stringify(name)} is ${isOne ? 'a' : 'no'} name of an initiator`, () =>
    assert.equal(initiatorProblem(name) === undefined, isOne))
}
