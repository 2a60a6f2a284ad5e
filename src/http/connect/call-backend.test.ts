import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { authority, make, serverUsage } from '#access/certificates.suite.ts'
import { callBackend } from './call-backend.ts'

const ca = await authority('aggregated authority')
/** Two requests each: how many of them are answered, and how many are counted. */
const rows: [insecure: boolean, hosts: string[] | undefined, answered: number, counted: number][] =
  [
    [true, undefined, 2, 2],
    [true, ['a.b.svc'], 2, 0],
    [false, undefined, 0, 2],
    [false, ['a.b.svc'], 2, 0],
  ]

for (const [insecure, hosts, answered, counted] of rows) {
  test(`names ${hosts}, ${insecure ? 'not asked for' : 'asked for'}: ${counted} counted`, async () => {
    const made = await make({
      subject: [{ CN: ['a.b.svc'] }],
      issuer: ca,
      usages: [serverUsage],
      ...(hosts && { hosts }),
    })
    const server = createServer({ cert: made.pem, key: made.keyPem }, (_, answer) => answer.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const unnamed = { count: 0 }
    const trust = { insecure, ca: ca.pem, serverName: 'a.b.svc', unnamed }
    let answers = 0
    for (let i = 0; i < 2; i++) {
      const call = {
        backend: { secure: true, host: '127.0.0.1', port, trust },
        method: 'GET',
        path: '/',
        headers: { host: 'a.b.svc' },
        signal: new AbortController().signal,
      }
      const answer = await callBackend(call).catch(({ message }: Error) => message)
      if (typeof answer === 'string') assert.match(answer, /^x509: certificate relies on legacy/)
      else {
        answers++
        await new Promise((resolve) => answer.resume().on('end', resolve))
      }
    }
    assert.deepEqual([answers, unnamed.count], [answered, counted])
    server.closeAllConnections()
    server.close()
  })
}

test('port 0 is nobody, and never the port of the protocol', async () => {
  const call = {
    backend: { secure: false, host: '127.0.0.1', port: 0, trust: { insecure: true } },
    method: 'GET',
    path: '/',
    headers: {},
    signal: new AbortController().signal,
  }
  await assert.rejects(callBackend(call), /dial tcp 127\.0\.0\.1:0: connect: connection refused/)
})
