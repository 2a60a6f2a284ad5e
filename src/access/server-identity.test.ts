import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { authority, make, serverUsage } from './certificates.suite.ts'
import { caller } from './https-call.ts'
import { legacyNameCode, unnamedServers } from './server-identity.ts'

const ca = await authority('webhook authority')
const ask = { method: 'GET', timeoutMs: 5000, answerBytesMax: 1000 } as const

const rows: [commonName: string, hosts: string[] | undefined, want: string | number][] = [
  ['localhost', ['localhost'], 200],
  ['elsewhere', ['localhost'], 200],
  ['localhost', undefined, legacyNameCode],
  ['elsewhere', undefined, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['localhost', ['elsewhere'], 'ERR_TLS_CERT_ALTNAME_INVALID'],
]

for (const [commonName, hosts, want] of rows) {
  test(`a server called ${commonName}, with names ${hosts}: ${want}`, async () => {
    const made = await make({
      subject: [{ CN: [commonName] }],
      issuer: ca,
      usages: [serverUsage],
      ...(hosts && { hosts }),
    })
    const server = createServer({ cert: made.pem, key: made.keyPem }, (_, answer) => answer.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const url = new URL(`https://localhost:${port}/`)
    const before = unnamedServers.webhooks.count
    const got = await caller({ ca: ca.pem })({ ...ask, url }).then(
      ({ status }) => status,
      (error: Error & { code?: string }) => error.code,
    )
    assert.equal(got, want)
    assert.equal(unnamedServers.webhooks.count - before, want === legacyNameCode ? 1 : 0)
    server.closeAllConnections()
    server.close()
  })
}
