import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTrust } from './backend.ts'
import { callBackend } from './call-backend.ts'
import { kubeletLookup, resolveAllowed } from './allowed-address.ts'

test('a name without an address is reported with the resolver that was queried', async () => {
  const unknown = Object.assign(new Error('x'), { code: 'ENOTFOUND' })
  await assert.rejects(
    resolveAllowed('a', false, () => Promise.reject(unknown)),
    { code: 400, message: /^lookup a( on \S+)?: no such host$/ },
  )
})

// the addresses of a name, the result of a connection
const kubelets: [string[], string][] = [
  [['127.0.0.1'], 'dial tcp 127.0.0.1:1: connect: connection refused'],
  [['169.254.169.254'], 'address not allowed'],
  [['127.0.0.1', 'fe80::1'], 'address not allowed'],
  [['0.0.0.0'], 'address not allowed'],
  [[], 'address not allowed'],
]
for (const [found, expected] of kubelets) {
  test(`a kubelet whose name resolves to ${found.join(' and ') || 'nothing'}`, async () => {
    const lookup = kubeletLookup(async () =>
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
    const call = {
      backend: { secure: false, host: 'node-1', port: 1, trust: noTrust, lookup },
      method: 'GET',
      path: '/',
      headers: {},
      signal: new AbortController().signal,
    }
    await assert.rejects(callBackend(call), { message: expected })
  })
}
