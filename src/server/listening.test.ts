/** Why a server cannot listen, by what the operating system says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cannotListen } from './listening.ts'

const wanted = { securePort: 443, bindAddress: '203.0.113.7' }
const rows: [code: string, line: RegExp][] = [
  ['EADDRINUSE', /^--secure-port: another program listens on port 443 of 203\.0\.113\.7; .*\)$/],
  ['EADDRNOTAVAIL', /^--bind-address: this machine does not have the address 203\.0\.113\.7 /],
  ['EACCES', /^--secure-port: this user may not listen on port 443; .*\(EACCES\)$/],
  ['EOTHER', /^as it is$/],
]
for (const [code, line] of rows)
  test(`${code} names the flag that fixes it`, () => {
    const error = Object.assign(new Error('as it is'), { code })
    assert.throws(() => cannotListen(error, wanted), { message: line })
  })
