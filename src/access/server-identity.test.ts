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

/** The result of a call to a server with this certificate: the status, or the error code. */
async function outcome(cert: string, key: string, trusted: string): Promise<unknown> {
  const server = createServer({ cert, key }, (_, answer) => answer.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = new URL(`https://localhost:${port}/`)
  try {
    return (await caller({ ca: trusted })({ ...ask, url })).status
  } catch (error) {
    return (error as { code?: string }).code
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

for (const [commonName, hosts, want] of rows) {
  test(`a server called ${commonName}, with names ${hosts}: ${want}`, async () => {
    const made = await make({
      subject: [{ CN: [commonName] }],
      issuer: ca,
      usages: [serverUsage],
      ...(hosts && { hosts }),
    })
    const before = unnamedServers.webhooks.count
    assert.equal(await outcome(made.pem, made.keyPem, ca.pem), want)
    assert.equal(unnamedServers.webhooks.count - before, want === legacyNameCode ? 1 : 0)
  })
}

const root = await authority('root')
const between = await make({ subject: [{ CN: ['between'] }], issuer: root, authority: true })
const leaf = await make({
  subject: [{ CN: ['localhost'] }],
  issuer: between,
  usages: [serverUsage],
  hosts: ['localhost'],
})
const trusts: [what: string, trusted: string, shown: string, want: string | number][] = [
  ['its root', root.pem, `${leaf.pem}\n${between.pem}`, 200],
  [
    'its root, which it does not lead up to',
    root.pem,
    leaf.pem,
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  ],
  ['who signed it', between.pem, leaf.pem, 200],
  ['itself', leaf.pem, leaf.pem, 200],
  ['another', ca.pem, leaf.pem, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
]
for (const [what, trusted, shown, want] of trusts) {
  test(`a server of which ${what} is trusted: ${want}`, async () => {
    assert.equal(await outcome(shown, leaf.keyPem, trusted), want)
  })
}
