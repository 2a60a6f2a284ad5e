/**
 * What clients get from a listener with several certificates, fewer cipher suites, or other TLS
 * versions.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { createListener, type Listener, type ListenerOptions } from './listener.ts'
import { selfSigned } from './self-signed.fixture.ts'

async function listening(t: TestContext, more: Partial<ListenerOptions>) {
  const listener: Listener = createListener({
    ...selfSigned('ordinary'),
    clientAuthorities: undefined,
    handle: () => {},
    upgrade: () => {},
    upgradesAt: () => false,
    ...more,
  })
  const port = await listener.listen(0, '0.0.0.0')
  t.after(async () => {
    const drained = listener.drain()
    listener.destroy()
    await drained
  })
  return { listener, port }
}

/** The negotiated certificate, version and cipher suite. */
const greeting = (port: number, requested: ConnectionOptions): Promise<string> =>
  new Promise((resolve) => {
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...requested },
      () => {
        const { CN } = socket.getPeerCertificate().subject
        resolve(`${CN} ${socket.alpnProtocol} ${socket.getProtocol()} ${socket.getCipher().name}`)
        socket.destroy()
      },
    )
    socket.on('error', () => resolve('refused'))
  })

const modern = 'h2 TLSv1.3 TLS_AES_128_GCM_SHA256'
const fresh = { ...selfSigned('fresh', []), names: ['one.example', '127.0.0.2'] }

test('each name and address has its certificate, and keeps it when keys are renewed', async (t) => {
  const named = [
    { ...selfSigned('one', []), names: ['one.example', '127.0.0.2'] },
    { ...selfSigned('two.example', []), names: [] },
  ]
  const { listener, port } = await listening(t, { named })
  const check = async (rows: [requested: ConnectionOptions, shown: string][]) => {
    for (const [requested, shown] of rows)
      assert.equal(await greeting(port, requested), `${shown} ${modern}`, JSON.stringify(requested))
  }
  await check([
    [{}, 'ordinary'],
    [{ servername: 'one.example' }, 'one'],
    [{ servername: 'two.example' }, 'two.example'],
    [{ servername: 'other.example' }, 'ordinary'],
    [{ host: '127.0.0.2' }, 'one'],
    [{ host: '127.0.0.2', servername: 'two.example' }, 'two.example'],
    [{ host: '127.0.0.2', servername: 'other.example' }, 'ordinary'],
  ])
  listener.renew({ ...selfSigned('renewed'), named: [fresh, named[1]!] })
  await check([
    [{}, 'renewed'],
    [{ servername: 'one.example' }, 'fresh'],
    [{ servername: 'two.example' }, 'two.example'],
    [{ servername: 'other.example' }, 'renewed'],
    [{ host: '127.0.0.2' }, 'fresh'],
  ])
})

const tls12 = { maxVersion: 'TLSv1.2' } as const
const gcm128 = 'ECDHE-ECDSA-AES128-GCM-SHA256'
const gcm256 = 'ECDHE-ECDSA-AES256-GCM-SHA384'
const few = `TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:${gcm128}:${gcm256}`
const old = { ciphers: 'ALL:@SECLEVEL=0', minVersion: 'TLSv1' } as const

const rows: [given: Partial<ListenerOptions>, requested: ConnectionOptions, agreed: string][] = [
  [{}, tls12, `TLSv1.2 ${gcm128}`],
  [{ ciphers: few }, {}, 'TLSv1.3 TLS_AES_128_GCM_SHA256'],
  [{ ciphers: few }, { ciphers: 'TLS_AES_256_GCM_SHA384' }, 'TLSv1.3 TLS_AES_256_GCM_SHA384'],
  [{ ciphers: few }, { ...tls12, ciphers: `${gcm256}:${gcm128}` }, `TLSv1.2 ${gcm128}`],
  [{ ciphers: few }, { ...tls12, ciphers: gcm256 }, `TLSv1.2 ${gcm256}`],
  [{ ciphers: few }, { ...tls12, ciphers: 'ECDHE-ECDSA-AES128-SHA' }, 'refused'],
  [{ minVersion: 'TLSv1.3' }, tls12, 'refused'],
  [{ minVersion: 'TLSv1.3' }, {}, 'TLSv1.3 TLS_AES_128_GCM_SHA256'],
  [{}, { ...old, maxVersion: 'TLSv1.1' }, 'refused'],
  [{ minVersion: 'TLSv1.1' }, { ...old, maxVersion: 'TLSv1.1' }, 'TLSv1.1 ECDHE-ECDSA-AES256-SHA'],
  [{ minVersion: 'TLSv1.1' }, { ...old, maxVersion: 'TLSv1' }, 'refused'],
  [{ minVersion: 'TLSv1' }, { ...old, maxVersion: 'TLSv1' }, 'TLSv1 ECDHE-ECDSA-AES256-SHA'],
  [{ minVersion: 'TLSv1' }, {}, 'TLSv1.3 TLS_AES_128_GCM_SHA256'],
]

for (const [given, requested, agreed] of rows)
  test(`${JSON.stringify(given)} and a client of ${JSON.stringify(requested)}`, async (t) => {
    const { port } = await listening(t, given)
    const wanted = agreed === 'refused' ? agreed : `ordinary h2 ${agreed}`
    assert.equal(await greeting(port, requested), wanted)
  })
