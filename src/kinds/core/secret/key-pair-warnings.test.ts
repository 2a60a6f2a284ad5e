import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { contextFor, named } from '#kinds/all-kinds/behaviour.suite.ts'
import { keyPairWarnings } from './key-pair-warnings.ts'

const keyOf = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string
const block = (type: string) => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`

const rows: [certificate: string, key: string, warning: string][] = [
  ['', '', 'tls: failed to find any PEM data in certificate input'],
  [
    keyOf(),
    '',
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [
    block('A') + block('B'),
    '',
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
  ],
  [block('CERTIFICATE'), '', 'tls: failed to find any PEM data in key input'],
  [
    block('CERTIFICATE'),
    block('CERTIFICATE'),
    'tls: found a certificate rather than a key in the PEM for the private key',
  ],
  [block('CERTIFICATE'), keyOf(), 'x509: malformed certificate'],
]
const warningsIn = (release: number, [crt, key]: readonly string[], type = 'kubernetes.io/tls') => {
  const encoded = (text = '') => Buffer.from(text).toString('base64')
  const secret = named({ type, data: { 'tls.crt': encoded(crt), 'tls.key': encoded(key) } })
  return keyPairWarnings(secret, contextFor({ release }))
}
for (const [certificate, key, warning] of rows) {
  test(warning, () => {
    assert.deepEqual(warningsIn(27, [certificate, key]), [warning])
    assert.deepEqual(warningsIn(26, [certificate, key]), [])
    assert.deepEqual(warningsIn(27, [certificate, key], 'Opaque'), [])
  })
}
