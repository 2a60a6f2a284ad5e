import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveAllowed } from './allowed-address.ts'

test('a name without an address is told with who was asked for it', async () => {
  const unknown = Object.assign(new Error('x'), { code: 'ENOTFOUND' })
  await assert.rejects(
    resolveAllowed('a', false, () => Promise.reject(unknown)),
    { code: 400, message: /^lookup a( on \S+)?: no such host$/ },
  )
})
