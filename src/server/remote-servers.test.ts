/**
 * The effect of the flags about kubelets: the requirements for their certificates, and this
 * server's credentials for them.
 */
import { systemRandom } from '#base/random.ts'
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { issueCertificate } from '#base/certificate.ts'
import type { Server } from '#verbs/server.ts'
import type { Settings } from '#settings/flags.ts'
import { connectParts, type RemoteSurroundings } from './remote-servers.ts'

const place = mkdtempSync(join(tmpdir(), 'binnacle-kubelets-'))
after(() => rmSync(place, { recursive: true, force: true }))
const file = (name: string, text: string) => {
  const path = join(place, name)
  writeFileSync(path, text)
  return path
}
const pairOf = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const request = {
    subject: { commonName: 'x' },
    usages: ['client'] as const,
    publicKey,
    serial: randomBytes(8),
    notBeforeMs: 0,
    notAfterMs: 1e12,
  }
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return { cert: issueCertificate(request, { privateKey }), key }
}
const own = pairOf()
const ca = pairOf().cert
const [caFile, certFile, keyFile] = [file('ca', ca), file('cert', own.cert), file('key', own.key)]

const timeout = { kubeletTimeoutMs: 7000 }
const shown = { ...own, connectTimeoutMs: 7000 }
// settings, trust, trust of clients that skip verification
const rows: [object, object, object][] = [
  [timeout, { connectTimeoutMs: 7000, insecure: true }, { connectTimeoutMs: 7000, insecure: true }],
  [
    { ...timeout, kubeletCertificateAuthority: caFile },
    { connectTimeoutMs: 7000, ca, insecure: false },
    { connectTimeoutMs: 7000, insecure: true },
  ],
  [
    {
      ...timeout,
      kubeletCertificateAuthority: caFile,
      kubeletClientCertificate: certFile,
      kubeletClientKey: keyFile,
    },
    { ...shown, ca, insecure: false },
    { ...shown, insecure: true },
  ],
]
const types = { kubeletPreferredAddressTypes: ['InternalIP'], proxyLoopbackAllowed: false }
const partsOf = (settings: object, monotonicMs?: () => number) =>
  connectParts(
    { ...settings, ...types } as unknown as Settings,
    { feature: () => false } as unknown as Server,
    { random: systemRandom } as RemoteSurroundings,
    monotonicMs,
  )
for (const [settings, trust, blindTrust] of rows) {
  test(`kubelets with ${Object.keys(settings).join(', ')}`, () => {
    const { kubelet } = partsOf(settings)
    assert.deepEqual(kubelet, { trust, blindTrust, addressTypes: ['InternalIP'] })
  })
}

test('what kubelets are shown is read again, and is the same as long as it is', () => {
  const [kubeletClientCertificate, kubeletClientKey] = [file('c', own.cert), file('k', own.key)]
  let ms = 0
  const settings = { ...timeout, kubeletClientCertificate, kubeletClientKey }
  const { kubelet } = partsOf(settings, () => ms)
  const { trust, blindTrust } = kubelet
  const shows = (pair: object) => {
    ms += 60_000
    assert.deepEqual(kubelet.trust, { ...pair, connectTimeoutMs: 7000, insecure: true })
    assert.deepEqual(kubelet.blindTrust, kubelet.trust)
  }
  shows(own)
  assert.equal(kubelet.trust, trust)
  assert.equal(kubelet.blindTrust, blindTrust)
  const renewed = pairOf()
  file('c', renewed.cert)
  shows(own)
  file('k', renewed.key)
  shows(renewed)
})

const garbled = file('garbled', 'x')
const another = file('another', pairOf().key)
// settings, what the start ends with
const refused: [object, string][] = [
  [{ kubeletCertificateAuthority: garbled }, `${garbled} holds no PEM certificate`],
  [
    { kubeletClientCertificate: garbled, kubeletClientKey: keyFile },
    `${garbled} holds no PEM certificate`,
  ],
  [
    { kubeletClientCertificate: certFile, kubeletClientKey: garbled },
    `${garbled} holds no PEM private key`,
  ],
  [
    { kubeletClientCertificate: certFile, kubeletClientKey: another },
    `${another} is not the key of ${certFile}`,
  ],
]
for (const [settings, message] of refused)
  test(`files for kubelets that are refused: ${message}`, () => {
    assert.throws(() => partsOf(settings), { name: 'CannotUseFile', message })
  })
