/** A self-signed certificate for listeners in tests. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { issueCertificate } from '#base/certificate.ts'

export function selfSigned(
  commonName: string,
  dnsNames: readonly string[] = ['localhost'],
  addresses: readonly Uint8Array[] = [],
): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cert = issueCertificate(
    {
      subject: { commonName },
      publicKey,
      usages: ['server'],
      dnsNames,
      addresses,
      notBeforeMs: Date.now() - 60_000,
      notAfterMs: Date.now() + 3_600_000,
      serial: randomBytes(8),
    },
    { privateKey },
  )
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}
