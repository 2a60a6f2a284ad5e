import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '#base/until.fixture.ts'
import { authority, clientUsage, make, serverUsage, type Wanted } from './certificates.suite.ts'
import { type CallError, caller } from './https-call.ts'

const server = createServer({ keepAliveTimeout: 60_000 }, (_, answer) => answer.end())
before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)))
after(() => {
  server.closeAllConnections()
  server.close()
})
const connections = promisify(server.getConnections.bind(server))

test('a connection is kept for the next call, and closed after a while without one', async () => {
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}/`)
  const call = caller({}, 200)
  const ask = { method: 'GET', url, timeoutMs: 5000, answerBytesMax: 1000 } as const
  await call(ask)
  await call(ask)
  assert.equal(await connections(), 1)
  await until('it is closed', async () => (await connections()) === 0)
})

/** A server whose certificate has the same subject and issuer, and the result of a call to it. */
const namesakes: {
  name: string
  certificate?: Partial<Wanted>
  signedByAnother?: true
  says: number | string
}[] = [
  { name: 'signed by the authority', says: 200 },
  { name: 'signed by another', signedByAnother: true, says: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  {
    name: 'for clients',
    certificate: { usages: [clientUsage] },
    says: 'INVALID_PURPOSE',
  },
  {
    name: 'for another server',
    certificate: { hosts: ['elsewhere'] },
    says: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  {
    name: 'expired',
    certificate: { notAfter: new Date(Date.now() - 1000) },
    says: 'CERT_HAS_EXPIRED',
  },
]

for (const { name, certificate, signedByAnother, says } of namesakes) {
  test(`a certificate that is named as its issuer: ${name}`, async (t) => {
    // The clock is set ahead during the call, which must not cause a timeout.
    const realMs = Date.now.bind(Date)
    let aheadMs = 0
    t.mock.method(Date, 'now', () => realMs() + (aheadMs += 6000))
    const ca = await authority('webhook')
    const issuer = signedByAnother ? await authority('webhook') : ca
    const own = await make({
      subject: [{ CN: ['webhook'] }],
      issuer,
      authority: false,
      usages: [serverUsage],
      hosts: ['127.0.0.1'],
      ...certificate,
    })
    let count = 0
    const secure = createSecureServer({ key: own.keyPem, cert: own.pem }, (_, answer) => {
      count++
      answer.end()
    })
    await new Promise<void>((resolve) => void secure.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = secure.address() as AddressInfo
      const url = new URL(`https://127.0.0.1:${port}/`)
      const call = caller({ ca: ca.pem })
      const ask = { method: 'POST', url, body: 'x', timeoutMs: 5000, answerBytesMax: 9 } as const
      for (const _ of [1, 2])
        assert.equal(
          await call(ask).then(
            ({ status }) => status,
            (error: CallError) => error.code,
          ),
          says,
        )
      assert.equal(count, says === 200 ? 2 : 0)
    } finally {
      secure.closeAllConnections()
      secure.close()
    }
  })
}
