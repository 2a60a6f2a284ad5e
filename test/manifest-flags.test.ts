/**
 * That flags which manifests of hardened clusters give have their effect on a running server. A row
 * is a flag, and all share one server. What each does in detail is beside what does it; other flags
 * are in flag-effects.test.ts.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { issueCertificate } from '#base/certificate.ts'
import { core, specify } from './specification.fixture.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-manifest-'))
after(() => rmSync(place, { recursive: true, force: true }))

/** A certificate in files; answers what the flag takes. */
function pairFor(commonName: string): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const life = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
  const about = { subject: { commonName }, usages: ['server'] as const, serial: randomBytes(8) }
  const cert = issueCertificate({ ...about, publicKey, ...life }, { privateKey })
  const [certFile, keyFile] = ['crt', 'key'].map((end) => join(place, `${commonName}.${end}`))
  writeFileSync(certFile!, cert)
  writeFileSync(keyFile!, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return `${certFile},${keyFile}`
}

/** Name and cipher suite that are shown to a client; undefined where it is refused. */
const shown = (port: number, asked: ConnectionOptions): Promise<string | undefined> =>
  new Promise((resolve) => {
    const to = { host: '127.0.0.1', port, rejectUnauthorized: false, ...asked }
    const socket = connect(to, () => {
      resolve(`${socket.getPeerCertificate().subject.CN} ${socket.getCipher().name}`)
      socket.destroy()
    })
    socket.on('error', () => resolve(undefined))
  })

const suite = 'ECDHE-ECDSA-AES128-GCM-SHA256'
const services = `${core}/namespaces/default/services`

specify(
  'flags of manifests',
  [
    `--tls-sni-cert-key=${pairFor('own.example')}`,
    `--tls-sni-cert-key=${pairFor('given')}:*.given.example`,
    '--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA',
    '--tls-min-version=VersionTLS12',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
    '--cors-allowed-origins=//page\\.example$',
    '--http2-max-streams-per-connection=42',
    '--goaway-chance=0.02',
    '--external-hostname=api.example',
    '--kubernetes-service-node-port=30443',
    '--default-not-ready-toleration-seconds=7',
    '--default-unreachable-toleration-seconds=9',
    '--delete-collection-workers=2',
    '--logging-format=json',
    '--v=2',
    '--disabled-metrics=apiserver_request_total',
    '--allow-metric-labels=apiserver_request_duration_seconds,verb=POST',
  ],
  [
    [
      '--logging-format',
      'every line of the log is an object that tells when, how grave and what',
      async (on) => {
        await on.ask('GET', '/api/v1/nodes')
        const lines = on.server.said().split('\n')
        const told = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
        assert.ok(told.some(({ msg }) => /etcd_object_counts is deprecated/.test(msg)))
        for (const { ts, level, msg } of told)
          assert.ok(ts > 1e12 && /^(info|warn|error)$/.test(level) && msg !== '', msg)
        assert.ok(!lines.some((line) => /^\d{4}-/.test(line)))
      },
    ],
    [
      '--disabled-metrics, --allow-metric-labels',
      'a metric is not shown, and of another only some values',
      async (on) => {
        await on.map('counted')
        await on.expect(200, 'GET', services)
        const { text } = await on.expect(200, 'GET', '/metrics')
        assert.doesNotMatch(text, /^apiserver_request_total/m)
        const verbs = [...text.matchAll(/^apiserver_request_duration_seconds_count{verb="(\w+)"/gm)]
        const found = new Set(verbs.map(([, verb]) => verb))
        assert.deepEqual([...found].sort(), ['POST', 'unexpected'])
      },
    ],
    [
      '--tls-sni-cert-key',
      'a client is shown the certificate of the name it calls',
      async ({ server: { port } }) => {
        const rows: [string, string][] = [
          ['own.example', 'own.example'],
          ['x.given.example', 'given'],
          ['other.example', 'kube-apiserver'],
        ]
        for (const [servername, name] of rows)
          assert.equal(await shown(port, { servername }), `${name} TLS_AES_128_GCM_SHA256`)
      },
    ],
    [
      '--tls-cipher-suites',
      'of TLS 1.2 only those that were named, and what is insecure is told of',
      async ({ server }) => {
        const maxVersion = 'TLSv1.2'
        const { port } = server
        assert.equal(await shown(port, { maxVersion }), `kube-apiserver ${suite}`)
        const ciphers = 'ECDHE-ECDSA-AES256-GCM-SHA384'
        assert.equal(await shown(port, { maxVersion, ciphers }), undefined)
        assert.match(server.said(), /Use of insecure cipher 'TLS_RSA_WITH_RC4_128_SHA' detected\./)
      },
    ],
    [
      '--strict-transport-security-directives, --cors-allowed-origins',
      'browsers are told',
      async (on) => {
        const origin = 'https://page.example'
        const asked = await on.expect(204, 'OPTIONS', `${core}/pods`, undefined, { origin })
        const got = await on.expect(200, 'GET', `${core}/namespaces`, undefined, { origin })
        for (const { headers } of [asked, got]) {
          assert.equal(headers?.['access-control-allow-origin'], origin)
          assert.equal(
            headers?.['strict-transport-security'],
            'max-age=31536000; includeSubDomains',
          )
          assert.equal(headers?.['cache-control'], 'no-cache, private')
          assert.match(String(headers?.['audit-id']), /^[\w-]{36}$/)
        }
        const other = await on.ask('OPTIONS', `${core}/pods`, undefined, { origin: 'https://x' })
        assert.notEqual(other.status, 204)
        assert.equal(other.headers?.['access-control-allow-origin'], undefined)
      },
    ],
    [
      '--http2-max-streams-per-connection, --goaway-chance',
      'a connection tells its number, and ends after some fifty requests',
      async ({ server: { url } }) => {
        const session = connectHttp2(url, { rejectUnauthorized: false })
        const told = new Promise((resolve) => session.once('remoteSettings', resolve))
        assert.equal(((await told) as { maxConcurrentStreams: number }).maxConcurrentStreams, 42)
        let last = false
        session.on('goaway', () => (last = true))
        session.on('error', () => {})
        let asked = 0
        for (; !last && asked < 2000; asked++) {
          const call = session.request({ ':path': '/version' }).resume()
          await new Promise((resolve) => call.on('close', resolve).on('error', () => {}))
        }
        session.destroy()
        assert.ok(last, `${asked} requests`)
      },
    ],
    [
      '--external-hostname',
      'discovery leads there',
      async (on) => {
        const { body } = await on.expect(200, 'GET', '/api')
        const { port } = on.server
        assert.equal(body.serverAddressByClientCIDRs[0].serverAddress, `api.example:${port}`)
        const openId = await on.expect(200, 'GET', '/.well-known/openid-configuration')
        assert.equal(openId.body.jwks_uri, `https://api.example:${port}/openid/v1/jwks`)
      },
    ],
    [
      '--kubernetes-service-node-port',
      'the kubernetes service has that port on every node, and no other gets it',
      async (on) => {
        const { body } = await on.expect(200, 'GET', `${services}/kubernetes`)
        assert.equal(body.spec.type, 'NodePort')
        assert.equal(body.spec.ports[0].nodePort, 30_443)
        const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_443 }] }
        await on.expect(422, 'POST', services, { metadata: { name: 'second' }, spec })
      },
    ],
    [
      '--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds',
      'pods that say nothing stay so long',
      async (on) => {
        const { body } = await on.expect(201, 'POST', `${core}/namespaces/kube-system/pods`, {
          metadata: { name: 'patient' },
          spec: { containers: [{ name: 'a', image: 'b' }], automountServiceAccountToken: false },
        })
        const seconds = (body.spec.tolerations as { tolerationSeconds: number }[]).map(
          ({ tolerationSeconds }) => tolerationSeconds,
        )
        assert.deepEqual(seconds, [7, 9])
      },
    ],
    [
      '--delete-collection-workers',
      'a collection is gone',
      async (on) => {
        const maps = `${core}/namespaces/kube-public/configmaps`
        for (let i = 0; i < 5; i++)
          await on.expect(201, 'POST', maps, { metadata: { name: `m${i}`, labels: { go: '1' } } })
        await on.expect(200, 'DELETE', `${maps}?labelSelector=go`)
        const { body } = await on.expect(200, 'GET', `${maps}?labelSelector=go`)
        assert.equal(body.items.length, 0)
      },
    ],
  ],
)
