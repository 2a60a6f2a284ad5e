/**
 * Creates and signs X.509 certificates. Time, serial number and keys are arguments. node:crypto
 * parses and verifies certificates, but cannot create them. Loading a library for that would take
 * longer than the start of the server (docs/decisions/certificates-by-hand.md).
 */
import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto'
import * as der from './der.ts'

export interface Subject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

export type Usage = 'authority' | 'server' | 'client'

/** The bit of each key usage, for certificates that are not authorities. */
export interface ExactUsages {
  /**
   * Numbers of key usage bits: 0 is digitalSignature, 8 decipherOnly. An empty list omits the
   * extension.
   */
  readonly keyBits: readonly number[]
  /** Extended key usages as object identifiers, in this order. */
  readonly extended: readonly string[]
}

export interface CertificateRequest {
  readonly subject: Subject | { readonly der: Buffer }
  readonly publicKey: KeyObject
  readonly usages: readonly Usage[] | ExactUsages
  readonly dnsNames?: readonly string[]
  /** Addresses as 4 or 16 bytes. */
  readonly addresses?: readonly Uint8Array[]
  /** Additional alternative names as encoded values. */
  readonly alternativeNames?: readonly Uint8Array[]
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Up to 20 unpredictable bytes. */
  readonly serial: Uint8Array
}

/** The issuer; without a certificate the certificate is self-signed. */
export interface Signer {
  readonly privateKey: KeyObject
  readonly certificate?: X509Certificate
}

const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
}

/** The signature algorithm of a key: its identifier, and the digest for node:crypto. */
function signatureOf(key: KeyObject): { identifier: Buffer; digest: string | null } {
  if (key.asymmetricKeyType === 'ec')
    return { identifier: der.sequence(der.oid('1.2.840.10045.4.3.2')), digest: 'sha256' }
  if (key.asymmetricKeyType === 'ed25519')
    return { identifier: der.sequence(der.oid('1.3.101.112')), digest: null }
  if (key.asymmetricKeyType === 'rsa')
    return {
      identifier: der.sequence(der.oid('1.2.840.113549.1.1.11'), der.nothing()),
      digest: 'sha256',
    }
  throw new Error(`a key of type ${key.asymmetricKeyType} cannot sign certificates here`)
}

function nameBytes(subject: CertificateRequest['subject']): Buffer {
  if ('der' in subject) return subject.der
  const attribute = (type: string, value: string) =>
    der.set(der.sequence(der.oid(type), der.utf8String(value)))
  const organizations = subject.organizations ?? []
  return der.sequence(
    ...organizations.map((value) => attribute(oids.organization, value)),
    attribute(oids.commonName, subject.commonName),
  )
}

/**
 * The subject of a CA certificate as encoded bytes. Certificates that it signs must have exactly
 * these bytes as their issuer.
 */
export function subjectBytes(certificate: X509Certificate): Buffer {
  const whole = der.valuesIn(certificate.raw)?.[0]
  const body = whole && der.valuesIn(whole.contents)?.[0]
  const fields = (body && der.valuesIn(body.contents)) ?? []
  // Version (tagged 0xa0, may be absent), serial, signature, issuer, validity, subject.
  const subject = fields[fields[0]?.tag === 0xa0 ? 5 : 4]
  if (subject === undefined) throw new Error('a certificate without a subject')
  return subject.whole
}

function keyIdentifier(key: KeyObject): Buffer {
  const info = der.valuesIn(key.export({ type: 'spki', format: 'der' }))?.[0]
  const bits = (info && der.valuesIn(info.contents)?.[1])?.contents.subarray(1) ?? Buffer.alloc(0)
  return createHash('sha1').update(bits).digest()
}

const critical = true
const extension = (type: string, value: Uint8Array, isCritical = false) =>
  der.sequence(der.oid(type), ...(isCritical ? [der.boolean(true)] : []), der.octetString(value))

const authorityBits = [0, 2, 5, 6]
const endBits = [0, 2]

function exactUsages(usages: readonly Usage[]): ExactUsages {
  return {
    // digitalSignature and keyEncipherment; keyCertSign and cRLSign for authorities.
    keyBits: usages.includes('authority') ? authorityBits : endBits,
    extended: [
      ...(usages.includes('server') ? [oids.serverAuth] : []),
      ...(usages.includes('client') ? [oids.clientAuth] : []),
    ],
  }
}

/** The first bit is the highest bit of the first byte. Bits after the last set bit are omitted. */
function bitsOf(numbers: readonly number[]): Buffer {
  const last = Math.max(...numbers)
  const bytes = new Uint8Array((last >> 3) + 1)
  for (const bit of numbers) bytes[bit >> 3] |= 0x80 >> (bit & 7)
  return der.bitString(bytes, 7 - (last & 7))
}

function extensionsOf(request: CertificateRequest, signer: Signer): Buffer {
  const { usages } = request
  const isAuthority = 'includes' in usages && usages.includes('authority')
  const { keyBits, extended } = 'includes' in usages ? exactUsages(usages) : usages
  const parts = [
    ...(keyBits.length > 0 ? [extension(oids.keyUsage, bitsOf(keyBits), critical)] : []),
    extension(
      oids.basicConstraints,
      isAuthority ? der.sequence(der.boolean(true)) : der.sequence(),
      critical,
    ),
    extension(oids.subjectKeyIdentifier, der.octetString(keyIdentifier(request.publicKey))),
  ]
  if (extended.length > 0)
    parts.push(extension(oids.extendedKeyUsage, der.sequence(...extended.map(der.oid))))
  const signingKey = signer.certificate?.publicKey ?? request.publicKey
  const by = der.tagged(0x80, keyIdentifier(signingKey))
  parts.push(extension(oids.authorityKeyIdentifier, der.sequence(by)))
  const names = [
    ...(request.dnsNames ?? []).map((name) => der.tagged(0x82, Buffer.from(name, 'latin1'))),
    ...(request.addresses ?? []).map((address) => der.tagged(0x87, address)),
    ...(request.alternativeNames ?? []),
  ]
  if (names.length > 0) parts.push(extension(oids.subjectAltName, der.sequence(...names)))
  return der.tagged(0xa3, der.sequence(...parts))
}

/** The certificate as PEM. */
export function issueCertificate(request: CertificateRequest, signer: Signer): string {
  const { identifier, digest } = signatureOf(signer.privateKey)
  const subject = nameBytes(request.subject)
  const body = der.sequence(
    der.tagged(0xa0, der.integer(2)),
    der.integer(request.serial),
    identifier,
    signer.certificate === undefined ? subject : subjectBytes(signer.certificate),
    der.sequence(der.time(request.notBeforeMs), der.time(request.notAfterMs)),
    subject,
    request.publicKey.export({ type: 'spki', format: 'der' }),
    extensionsOf(request, signer),
  )
  const signature = sign(digest, body, signer.privateKey)
  return pem('CERTIFICATE', der.sequence(body, identifier, der.bitString(signature)))
}

export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
