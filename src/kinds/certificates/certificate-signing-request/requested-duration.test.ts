import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { issueCertificate } from '#base/certificate.ts'
import { requestedDuration } from './requested-duration.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const startMs = Date.UTC(2030, 0, 1)
const living = (seconds: number): string =>
  Buffer.from(
    issueCertificate(
      {
        subject: { commonName: 'x' },
        usages: ['client'],
        publicKey: createPublicKey(privateKey),
        serial: Buffer.of(1),
        notBeforeMs: startMs,
        notAfterMs: startMs + seconds * 1000,
      },
      { privateKey },
    ),
  ).toString('base64')

const client = 'kubernetes.io/kube-apiserver-client'
const hour = 3600
const rows: Record<string, [old: Loose, certificate: string | undefined, expected: unknown]> = {
  'the time asked for': [{ wanted: hour }, living(hour), { signer: client, honored: true }],
  'almost as much': [{ wanted: hour }, living(hour - 479), { signer: client, honored: true }],
  'too little': [{ wanted: hour }, living(hour - 480), { signer: client, honored: false }],
  'a little more': [{ wanted: hour }, living(hour + 479), { signer: client, honored: true }],
  'too much': [{ wanted: hour }, living(hour + 480), { signer: client, honored: false }],
  'another signer': [
    { wanted: hour, signerName: 'example.com/x' },
    living(hour),
    { signer: 'other', honored: true },
  ],
  'what is none': [{ wanted: hour }, 'bm9uZQ==', { signer: client, honored: false }],
  'no time asked for': [{}, living(hour), undefined],
  'no certificate yet': [{ wanted: hour }, undefined, undefined],
  'one that was there': [{ wanted: hour, certificate: 'Zmlyc3Q=' }, living(hour), undefined],
}
for (const [
  what,
  [{ wanted, signerName = client, certificate }, issued, expected],
] of Object.entries(rows)) {
  test(`the duration of a certificate: ${what}`, () => {
    const spec = { signerName, ...(wanted !== undefined && { expirationSeconds: wanted }) }
    const of = (value: unknown) => ({ metadata: {}, spec, status: { certificate: value } })
    assert.deepEqual(
      requestedDuration(of(issued) as KubeObject, of(certificate) as KubeObject),
      expected,
    )
  })
}
