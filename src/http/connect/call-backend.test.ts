import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { test } from 'node:test'
import { authority, make, serverUsage } from '#access/certificates.suite.ts'
import { caller } from '#access/https-call.ts'
import { callBackend, callForUpgrade } from './call-backend.ts'

const ca = await authority('aggregated authority')
/** Two requests each: the number of responses, and the number of counted certificates. */
const rows: [insecure: boolean, hosts: string[] | undefined, answered: number, counted: number][] =
  [
    [true, undefined, 2, 2],
    [true, ['a.b.svc'], 2, 0],
    [false, undefined, 0, 2],
    [false, ['a.b.svc'], 2, 0],
  ]

for (const [insecure, hosts, answered, counted] of rows) {
  test(`names ${hosts}, ${insecure ? 'not verified' : 'verified'}: ${counted} counted`, async () => {
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

test('port 0 is an error, not the default port of the protocol', async () => {
  const call = {
    backend: { secure: false, host: '127.0.0.1', port: 0, trust: { insecure: true } },
    method: 'GET',
    path: '/',
    headers: {},
    signal: new AbortController().signal,
  }
  await assert.rejects(callBackend(call), /dial tcp 127\.0\.0\.1:0: connect: connection refused/)
})

test('a backend that upgrades an ordinary request is reported at once', async () => {
  const server = createPlainServer((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n')
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const call = {
    backend: { secure: false, host: '127.0.0.1', port, trust: { insecure: true } },
    method: 'GET',
    path: '/',
    headers: {},
    signal: new AbortController().signal,
  }
  await assert.rejects(callBackend(call), {
    message: 'backend tried to switch protocol "foo" when "" was requested',
  })
  const reported = caller({})({
    method: 'GET',
    url: new URL(`http://127.0.0.1:${port}/x`),
    timeoutMs: 60_000,
    answerBytesMax: 1000,
  })
  const why = 'the server left HTTP without being asked'
  await assert.rejects(reported, { message: `GET http://127.0.0.1:${port}/x: ${why}`, late: false })
  server.close()
})

const notFor = (requested: string) => `x509: certificate is valid for only, not ${requested}`
// names in the certificate, the required name if it differs from the address, the server name that
// the client sends, outcome
const identities: [string[], string | undefined, string, string][] = [
  [['127.0.0.1'], undefined, 'api.example.com:6443', 'answered'],
  [['127.0.0.1'], undefined, 'api.example.com', 'answered'],
  [
    ['api.example.com'],
    undefined,
    'api.example.com',
    "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  ],
  [['a.b.svc'], 'a.b.svc', 'api.example.com', 'answered'],
  [['only'], 'a.b.svc', 'only', notFor('a.b.svc')],
]
for (const [hosts, serverName, host, expected] of identities) {
  const what = `a server with a certificate for ${hosts}, wanted ${serverName}, by a client of ${host}`
  test(`${what}: ${expected}`, async () => {
    const subject = [{ CN: ['x'] }]
    const made = await make({ subject, issuer: ca, usages: [serverUsage], hosts })
    const server = createServer({ cert: made.pem, key: made.keyPem }, (_, answer) => answer.end())
    server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const trust = { insecure: false, ca: ca.pem, ...(serverName && { serverName }) }
    const backend = { secure: true, host: '127.0.0.1', port, trust }
    const call = { backend, method: 'GET', path: '/', signal: new AbortController().signal }
    const upgrade = { connection: 'Upgrade', upgrade: 'x' }
    const outcomes = await Promise.allSettled([
      callBackend({ ...call, headers: { host } }),
      callForUpgrade({ ...call, headers: { host, ...upgrade } }),
    ])
    for (const outcome of outcomes) {
      const heard = outcome.status === 'rejected' ? outcome.reason.message : 'answered'
      assert.equal(heard, expected)
    }
    server.closeAllConnections()
    server.close()
  })
}
