/**
 * The address of a kubelet: the first address of the operator's preferred type, and never a
 * link-local one.
 */
import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { ApiError } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { type Backend, placeOf } from './backend.ts'
import { kubeletOf } from './kubelet.ts'

const all = [
  'Hostname node-1',
  'InternalIP 10.0.0.1',
  'ExternalIP 203.0.113.1',
  'InternalIP 10.0.0.2',
]
const known =
  '[{Hostname node-1} {InternalIP 10.0.0.1} {ExternalIP 203.0.113.1} {InternalIP 10.0.0.2}]'

// address types in order of preference, addresses, port, result
const rows: [string[], string[], number | undefined, string][] = [
  [['InternalIP', 'Hostname'], all, 10_300, '10.0.0.1:10300'],
  [['Hostname', 'InternalIP'], all, 10_300, 'node-1:10300'],
  [['InternalDNS', 'ExternalIP'], all, 10_300, '203.0.113.1:10300'],
  [['InternalIP'], all, undefined, '10.0.0.1:10250'],
  [['InternalIP'], all, 0, '10.0.0.1:10250'],
  [['InternalIP'], ['InternalIP 2001:db8::1'], 1, '[2001:db8::1]:1'],
  [['InternalIP'], ['InternalIP 127.0.0.1'], 1, '127.0.0.1:1'],
  [['InternalIP'], ['InternalIP 169.254.169.254'], 1, '400 address not allowed'],
  [['InternalIP'], ['InternalIP fe80::1'], 1, '400 address not allowed'],
  [['InternalIP'], ['InternalIP 0.0.0.0'], 1, '400 address not allowed'],
  [['ExternalDNS'], all, 1, `500 no preferred addresses found; known addresses: ${known}`],
  [['InternalIP'], [], 1, '500 no preferred addresses found; known addresses: []'],
]
for (const [addressTypes, addresses, Port, expected] of rows) {
  test(`${addressTypes} of ${addresses.length} at ${Port}: ${expected}`, async () => {
    const status = {
      addresses: addresses.map((one) => {
        const [type, address] = one.split(' ')
        return { type, address }
      }),
      daemonEndpoints: { kubeletEndpoint: { Port } },
    }
    const reader = { get: async () => ({ metadata: {}, status }) } as unknown as ObjectReader
    const trust = { insecure: false }
    const kubelet = { trust, blindTrust: trust, addressTypes }
    const seen = (backend: Backend) => {
      // Names are resolved and checked when they are called.
      assert.equal(backend.lookup !== undefined, isIP(backend.host) === 0)
      return placeOf(backend)
    }
    const found = await kubeletOf({ reader, kubelet }, 'n', 'pods').then(seen, (error) => {
      assert.ok(error instanceof ApiError)
      return `${error.code} ${error.message}`
    })
    assert.equal(found, expected)
  })
}
