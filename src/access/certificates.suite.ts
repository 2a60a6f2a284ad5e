/** Creates valid and invalid certificates and keys for tests. */
import { webcrypto, X509Certificate } from 'node:crypto'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(webcrypto as never)

export interface Made {
  readonly pem: string
  readonly keyPem: string
  readonly certificate: X509Certificate
  readonly subject: x509.Name
  readonly keys: CryptoKeyPair
}

type CryptoKeyPair = Awaited<ReturnType<typeof newKeys>>

const algorithms = {
  ec: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  },
  sha1: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-1',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  },
  /** The exponent makes verification slow. */
  wide: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([0x80, 0, 0, 1]),
    modulusLength: 2048,
  },
} as const

async function newKeys(kind: keyof typeof algorithms) {
  const keys = await webcrypto.subtle.generateKey(algorithms[kind], true, ['sign', 'verify'])
  return keys as { publicKey: webcrypto.CryptoKey; privateKey: webcrypto.CryptoKey }
}

export interface Wanted {
  /** e.g. [{ CN: ['alice'] }, { O: ['dev'] }] */
  readonly subject: x509.JsonName
  readonly issuer?: Made
  /** Whether it is an authority; undefined omits the extension. */
  readonly authority?: boolean
  readonly pathLength?: number
  readonly usages?: readonly string[]
  readonly keyUsages?: number
  readonly notBefore?: Date
  readonly notAfter?: Date
  readonly keys?: keyof typeof algorithms
  readonly keysOf?: Made
  readonly extensions?: readonly x509.Extension[]
  readonly hosts?: readonly string[]
}

export const clientUsage = '1.3.6.1.5.5.7.3.2'
export const serverUsage = '1.3.6.1.5.5.7.3.1'

const hour = 3_600_000
let serial = 1

export async function make(wanted: Wanted): Promise<Made> {
  const kind = wanted.keys ?? 'ec'
  const keys = wanted.keysOf?.keys ?? (await newKeys(kind))
  const subject = new x509.Name(wanted.subject)
  const extensions: x509.Extension[] = [...(wanted.extensions ?? [])]
  if (wanted.authority !== undefined)
    extensions.push(new x509.BasicConstraintsExtension(wanted.authority, wanted.pathLength, true))
  if (wanted.usages !== undefined)
    extensions.push(new x509.ExtendedKeyUsageExtension([...wanted.usages]))
  if (wanted.keyUsages !== undefined)
    extensions.push(new x509.KeyUsagesExtension(wanted.keyUsages, true))
  if (wanted.hosts !== undefined)
    extensions.push(
      new x509.SubjectAlternativeNameExtension(
        wanted.hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value })),
      ),
    )
  const signer = wanted.issuer
  const signingAlgorithm = signer === undefined ? algorithms[kind] : algorithmOf(signer)
  const made = await x509.X509CertificateGenerator.create({
    serialNumber: (serial++).toString(16).padStart(4, '0'),
    subject,
    issuer: signer?.subject ?? subject,
    notBefore: wanted.notBefore ?? new Date(Date.now() - hour),
    notAfter: wanted.notAfter ?? new Date(Date.now() + hour),
    publicKey: keys.publicKey as never,
    signingKey: (signer?.keys.privateKey ?? keys.privateKey) as never,
    signingAlgorithm: signingAlgorithm as never,
    extensions,
  })
  const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  const pem = made.toString('pem')
  return {
    pem,
    keyPem: x509.PemConverter.encode(der as ArrayBuffer, 'PRIVATE KEY'),
    certificate: new X509Certificate(pem),
    subject,
    keys,
  }
}

const algorithmOf = ({ keys }: Made) => {
  const { name, hash } = keys.privateKey.algorithm as { name: string; hash?: { name: string } }
  return name === 'ECDSA' ? algorithms.ec : { name, hash: hash?.name ?? 'SHA-256' }
}

export const authority = (name: string, more: Partial<Wanted> = {}): Promise<Made> =>
  make({ subject: [{ CN: [name] }], authority: true, ...more })

export const client = (issuer: Made, name: string, groups: string[], more: Partial<Wanted> = {}) =>
  make({
    subject: [{ CN: [name] }, ...groups.map((group) => ({ O: [group] }))],
    issuer,
    usages: [clientUsage],
    ...more,
  })

export const serving = (issuer: Made): Promise<Made> =>
  make({
    subject: [{ CN: ['localhost'] }],
    issuer,
    usages: [serverUsage],
    hosts: ['localhost', '127.0.0.1'],
  })
