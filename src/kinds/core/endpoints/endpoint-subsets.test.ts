import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { contextFor, inDefault } from '#kinds/all-kinds/behaviour.suite.ts'
import { repackSubsets } from './endpoint-subsets.ts'
import { endpointsBehaviour } from './behaviour.ts'

const tcp = (name: string, port: number) => ({ name, port, protocol: 'TCP' })
const at = (ip: string, more: Loose = {}) => ({ ip, ...more })
const owned = (uid: string) => ({
  targetRef: { kind: 'Pod', namespace: 'default', name: 'p', uid },
})

const rows: [what: string, subsets: Loose[], repacked: Loose[]][] = [
  ['nothing', [], []],
  [
    'addresses are sorted, and duplicates removed',
    [
      {
        addresses: [at('10.0.0.2'), at('10.0.0.1', { hostname: 'a' }), at('10.0.0.1')],
        ports: [tcp('a', 80)],
      },
    ],
    [{ addresses: [at('10.0.0.1', { hostname: 'a' }), at('10.0.0.2')], ports: [tcp('a', 80)] }],
  ],
  [
    'not ready in one place is not ready',
    [
      { addresses: [at('10.0.0.1')], ports: [tcp('a', 80)] },
      { notReadyAddresses: [at('10.0.0.1')], ports: [tcp('a', 80)] },
    ],
    [{ notReadyAddresses: [at('10.0.0.1')], ports: [tcp('a', 80)] }],
  ],
  [
    'ports of the same addresses are grouped, in the order of their hashes',
    [
      { addresses: [at('10.0.0.3')], ports: [tcp('p0', 80), tcp('p2', 80)] },
      { addresses: [at('10.0.0.3')], ports: [tcp('p2', 82)] },
    ],
    [{ addresses: [at('10.0.0.3')], ports: [tcp('p2', 80), tcp('p2', 82), tcp('p0', 80)] }],
  ],
  [
    'subsets without ports stay, and an address of two owners is two',
    [
      {
        addresses: [
          at('10.0.0.3', owned('u1')),
          at('10.0.0.1', { hostname: 'h1' }),
          at('10.0.0.3', owned('u0')),
        ],
      },
      { addresses: [at('10.0.0.3', { hostname: 'h2' })], ports: [tcp('p2', 80)] },
    ],
    [
      {
        addresses: [
          at('10.0.0.1', { hostname: 'h1' }),
          at('10.0.0.3', owned('u0')),
          at('10.0.0.3', owned('u1')),
        ],
      },
      { addresses: [at('10.0.0.3', { hostname: 'h2' })], ports: [tcp('p2', 80)] },
    ],
  ],
]
for (const [what, subsets, repacked] of rows) {
  test(what, () => assert.deepEqual(repackSubsets(subsets), repacked))
}

test('up to 1.16 subsets are normalised, except rejected ones', () => {
  const twice = [{ addresses: [at('10.0.0.1'), at('10.0.0.1')], ports: [tcp('a', 80)] }]
  const stored = (release: number, subsets: Loose[]) => {
    const object = inDefault({ subsets: structuredClone(subsets) })
    endpointsBehaviour.prepareForCreate?.(object, contextFor({ release }))
    return object.subsets[0].addresses.length
  }
  assert.deepEqual(
    [15, 16, 17, 22].map((release) => stored(release, twice)),
    [1, 1, 2, 2],
  )
  assert.equal(stored(15, [{ ...twice[0], ports: [tcp('a', 0)] }]), 2)
})
