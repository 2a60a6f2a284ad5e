/** Certificates we write, as Node and an independent library read them. */
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import * as x509 from '@peculiar/x509'
import { type CertificateRequest, issueCertificate } from './certificate.ts'

const keyPairs = {
  ec: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: () => generateKeyPairSync('ed25519'),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
const now = Date.UTC(2030, 0, 1)

const request = (publicKey: KeyObject, more: Partial<CertificateRequest>): CertificateRequest => ({
  subject: { commonName: 'someone' },
  publicKey,
  usages: ['client'],
  notBeforeMs: now,
  notAfterMs: now + 86_400_000,
  serial: Uint8Array.of(0x80, 2, 3),
  ...more,
})

for (const [name, make] of Object.entries(keyPairs))
  test(`an authority with a key of ${name} signs a leaf that verifies`, () => {
    const authorityKeys = make()
    const authority = new X509Certificate(
      issueCertificate(
        request(authorityKeys.publicKey, {
          subject: { commonName: 'authority é' },
          usages: ['authority'],
          notAfterMs: Date.UTC(2055, 0, 1),
        }),
        { privateKey: authorityKeys.privateKey },
      ),
    )
    assert.equal(authority.ca, true)
    assert.ok(authority.verify(authorityKeys.publicKey))
    assert.equal(new Date(authority.validTo).getTime(), Date.UTC(2055, 0, 1))
    const leafKeys = keyPairs.ec()
    const leaf = new X509Certificate(
      issueCertificate(
        request(leafKeys.publicKey, {
          subject: { commonName: 'admin', organizations: ['system:masters', 'b'] },
          usages: ['server', 'client'],
          dnsNames: ['localhost', 'kubernetes.default.svc'],
          addresses: [Uint8Array.of(127, 0, 0, 1), Uint8Array.of(...Buffer.alloc(15), 1)],
        }),
        { privateKey: authorityKeys.privateKey, certificate: authority },
      ),
    )
    assert.ok(leaf.verify(authorityKeys.publicKey))
    assert.ok(leaf.checkIssued(authority))
    assert.ok(leaf.checkPrivateKey(leafKeys.privateKey))
    assert.equal(leaf.subject, 'O=system:masters\nO=b\nCN=admin')
    assert.equal(leaf.checkHost('kubernetes.default.svc'), 'kubernetes.default.svc')
    assert.equal(leaf.checkIP('127.0.0.1'), '127.0.0.1')
    assert.ok(leaf.checkIP('::1'))
    assert.equal(leaf.serialNumber, '800203')
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
  })

test('an independent library parses the same values', () => {
  const keys = keyPairs.ec()
  const made = issueCertificate(
    request(keys.publicKey, { usages: ['authority'], dnsNames: ['a.example'] }),
    { privateKey: keys.privateKey },
  )
  const read = new x509.X509Certificate(made)
  assert.equal(read.subject, 'CN=someone')
  assert.equal(read.issuer, 'CN=someone')
  assert.equal(read.notBefore.getTime(), now)
  assert.equal(read.getExtension(x509.BasicConstraintsExtension)?.ca, true)
  const usages = read.getExtension(x509.KeyUsagesExtension)?.usages ?? 0
  const flags = x509.KeyUsageFlags
  assert.equal(
    usages,
    flags.digitalSignature | flags.keyEncipherment | flags.keyCertSign | flags.cRLSign,
  )
  const names = read.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON()
  assert.deepEqual(names, [{ type: 'dns', value: 'a.example' }])
  assert.ok(createPublicKey(made).equals(keys.publicKey))
})
