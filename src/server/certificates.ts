/**
 * The certificates and keys that a server needs. These are a certificate authority, a serving
 * certificate, an administrator's client certificate, and the key that signs service account
 * tokens. The server creates them on its first start, keeps them in the data directory, and renews
 * them before they expire. It uses an authority or a serving certificate that the operator put
 * there. It rejects an invalid file by name and never replaces it.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { User } from '#access/user.ts'
import type { Loopback } from '#admission/webhook/address.ts'
import {
  type CertificateRequest,
  issueCertificate,
  type Signer,
  subjectBytes,
} from '#base/certificate.ts'
import type { Clock } from '#base/clock.ts'
import { addressBytes, type Machine, servingNames } from './addresses.ts'
import type { Settings } from '#settings/flags.ts'
import {
  CannotUseFile,
  ensurePrivateDirectory,
  readIfThere,
  writePrivateFiles,
} from './private-files.ts'
import {
  givenPair,
  type KeyPair,
  type Loaded,
  loadPair,
  type NamedPair,
  namedPair,
  parsed,
  validityProblem,
} from './key-pair.ts'

export interface Certificates {
  readonly ca: KeyPair
  readonly serving: KeyPair
  /** Additional serving certificates, selected by SNI. */
  readonly named: readonly NamedPair[]
  readonly admin: KeyPair
  readonly serviceAccountKey: { readonly privatePem: string; readonly publicPem: string }
  /** The CA certificates with which clients verify the serving certificate. */
  readonly trustPem: string
  /** Names of the pairs that this call created or renewed: `ca`, `apiserver`, `admin`, `sa`. */
  readonly made: readonly string[]
  /** Warnings for the operator about the certificate files. */
  readonly warnings: readonly string[]
}

type Wanted = Pick<
  Settings,
  | 'dataDir'
  | 'certDir'
  | 'tlsCertFile'
  | 'tlsPrivateKeyFile'
  | 'tlsSniCertKey'
  | 'bindAddress'
  | 'advertiseAddress'
  | 'serviceClusterIpRange'
> &
  Partial<Pick<Settings, 'externalHostname'>>

const dayMs = 24 * 3_600_000
const authorityLifeMs = 3653 * dayMs
const leafLifeMs = 365 * dayMs
/**
 * New certificates are backdated, so that machines whose clocks are slightly behind accept them.
 */
const backdatedMs = 5 * 60_000

/**
 * Prefix of the common name of authorities that the server creates. Certificates they signed may be
 * replaced.
 */
const authorityName = 'binnacle-ca-'

/** The directory with the certificates. */
export const certificateDirectory = (settings: Pick<Settings, 'dataDir' | 'certDir'>) =>
  settings.certDir ?? join(settings.dataDir, 'pki')

/** The certificate of the server's own authority. */
export const authorityPath = (settings: Pick<Settings, 'dataDir' | 'certDir'>): string =>
  join(certificateDirectory(settings), 'ca.crt')

/** The certificate files that flags specify. */
export const givenFiles = ({
  tlsCertFile = '',
  tlsPrivateKeyFile = '',
  tlsSniCertKey,
}: Pick<Wanted, 'tlsCertFile' | 'tlsPrivateKeyFile' | 'tlsSniCertKey'>): string[] =>
  [
    tlsCertFile,
    tlsPrivateKeyFile,
    ...tlsSniCertKey.flatMap(({ certificate, key }) => [certificate, key]),
  ].filter((path) => path !== '')

/** The host name and addresses that the operating system reports. */
export function thisMachine(): Machine {
  const addresses = Object.values(networkInterfaces())
    .flatMap((interfaces) => interfaces ?? [])
    .filter((one) => !one.internal && !one.address.includes('%'))
    .map((one) => one.address)
  return { hostname: hostname(), addresses }
}

/** Advice in errors about an invalid file that the server can create itself. */
const adviceForOwn = 'mend it, or move it away to have one made'

/**
 * Throws if only one file of a pair exists. Such a file belongs to the operator, so it is not
 * replaced.
 */
function refuseHalf(...paths: [string, string]): void {
  const there = paths.filter((path) => readIfThere(path) !== undefined)
  const [missing] = paths.filter((path) => !there.includes(path))
  if (there.length === 1)
    throw new CannotUseFile(
      there[0]!,
      `is of no use without ${missing}; move it away to have both made`,
    )
}

/** Whether to renew a certificate: two thirds of its lifetime are over, or it is not valid yet. */
function isDue(certificate: X509Certificate, nowMs: number): boolean {
  const from = Date.parse(certificate.validFrom)
  const to = Date.parse(certificate.validTo)
  return nowMs < from || nowMs > to - (to - from) / 3
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

const isIssuedHere = ({ issuer }: X509Certificate) => issuer?.startsWith(`CN=${authorityName}`)

function makePair(
  paths: { certificate: string; key: string },
  request: Omit<CertificateRequest, 'publicKey' | 'serial' | 'notBeforeMs' | 'notAfterMs'>,
  life: { nowMs: number; lifeMs: number },
  signer?: Loaded,
  keep?: KeyObject,
  write = writePrivateFiles,
): Loaded {
  const privateKey = keep ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const by: Signer = signer ?? { privateKey }
  const certificatePem = issueCertificate(
    {
      ...request,
      publicKey: createPublicKey(privateKey),
      serial: randomBytes(16),
      notBeforeMs: life.nowMs - backdatedMs,
      notAfterMs: life.nowMs + life.lifeMs,
    },
    by,
  )
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const written = new Map([[paths.certificate, certificatePem]])
  write(keep === undefined ? written.set(paths.key, keyPem) : written)
  return {
    pair: { certificatePem, keyPem },
    certificate: new X509Certificate(certificatePem),
    privateKey,
  }
}

interface Leaf extends Loaded {
  readonly path: string
  /** Whether this server issued the certificate, and therefore renews it. */
  readonly isOurs: boolean
}

class Workshop {
  readonly made: string[] = []
  readonly #directory: string
  readonly #nowMs: number
  readonly #write: typeof writePrivateFiles
  #authority: Loaded | undefined

  constructor(directory: string, nowMs: number, write: typeof writePrivateFiles) {
    this.#directory = directory
    this.#nowMs = nowMs
    this.#write = write
  }

  #paths = (name: string) => ({
    certificate: join(this.#directory, `${name}.crt`),
    key: join(this.#directory, `${name}.key`),
  })

  /**
   * The authority. A renewed authority keeps its key and name, so certificates that it signed stay
   * valid.
   */
  authority(): Loaded {
    if (this.#authority !== undefined) return this.#authority
    const paths = this.#paths('ca')
    const there = loadPair(paths.certificate, paths.key, adviceForOwn)
    if (there !== undefined && !isDue(there.certificate, this.#nowMs))
      return (this.#authority = there)
    if (there === undefined) refuseHalf(paths.certificate, paths.key)
    const commonName = `${authorityName}${randomBytes(4).toString('hex')}`
    const subject = there === undefined ? { commonName } : { der: subjectBytes(there.certificate) }
    const life = { nowMs: this.#nowMs, lifeMs: authorityLifeMs }
    this.made.push('ca')
    this.#authority = makePair(
      paths,
      { subject, usages: ['authority'] },
      life,
      undefined,
      there?.privateKey,
      this.#write,
    )
    return this.#authority
  }

  /**
   * Returns an operator's certificate unchanged. It was signed neither by the current authority nor
   * by an earlier one of this server. Otherwise returns the server's own certificate, renewed if
   * necessary.
   */
  leaf(
    name: string,
    request: Pick<CertificateRequest, 'subject' | 'usages' | 'dnsNames' | 'addresses'>,
    fits: (certificate: X509Certificate) => boolean,
  ): Leaf {
    const authority = this.authority()
    const paths = this.#paths(name)
    const there = loadPair(paths.certificate, paths.key, adviceForOwn)
    if (there === undefined) refuseHalf(paths.certificate, paths.key)
    const signed = there && isSignedBy(there.certificate, authority.certificate)
    const path = paths.certificate
    if (there && !signed && !isIssuedHere(there.certificate))
      return { ...there, path, isOurs: false }
    const stays = signed && !isDue(there.certificate, this.#nowMs) && fits(there.certificate)
    if (stays) return { ...there, path, isOurs: true }
    this.made.push(name)
    const life = { nowMs: this.#nowMs, lifeMs: leafLifeMs }
    // Keep the private key, so that only the certificate is written. A crash between two writes
    // would leave a certificate and a key that do not match.
    const made = makePair(paths, request, life, authority, there?.privateKey, this.#write)
    return { ...made, path, isOurs: true }
  }

  serviceAccountKey(): Certificates['serviceAccountKey'] {
    const path = join(this.#directory, 'sa.key')
    let privatePem = readIfThere(path)
    if (privatePem === undefined) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
      this.#write(new Map([[path, privatePem]]))
      this.made.push('sa')
    }
    const pem = privatePem
    const key = parsed(path, 'PEM private key', adviceForOwn, () =>
      createPublicKey(createPrivateKey(pem)),
    )
    const publicPem = key.export({ type: 'spki', format: 'pem' }) as string
    if (this.made.includes('sa'))
      this.#write(new Map([[join(this.#directory, 'sa.pub'), publicPem]]))
    return { privatePem, publicPem }
  }
}

/**
 * Loads all certificates and CAs. Creates missing ones and renews those that expire soon. Throws
 * CannotUseFile with the name of the file.
 */
export function ensureCertificates(
  settings: Wanted,
  clock: Clock,
  machine: Machine = thisMachine(),
  write = writePrivateFiles,
): Certificates {
  const directory = certificateDirectory(settings)
  ensurePrivateDirectory(settings.dataDir)
  ensurePrivateDirectory(directory)
  const workshop = new Workshop(directory, clock.now(), write)
  const ca = workshop.authority().pair
  const caPath = authorityPath(settings)
  const given = givenPair(settings.tlsCertFile, settings.tlsPrivateKeyFile)
  const names = servingNames(settings, machine)
  const serving: Leaf = given
    ? { ...given, path: `--tls-cert-file: ${settings.tlsCertFile}`, isOurs: false }
    : workshop.leaf(
        'apiserver',
        {
          subject: { commonName: 'kube-apiserver' },
          usages: ['server'],
          dnsNames: names.dnsNames,
          addresses: names.addresses.map(addressBytes),
        },
        (certificate) =>
          names.dnsNames.every((name) => certificate.checkHost(name) !== undefined) &&
          names.addresses.every((address) => certificate.checkIP(address) !== undefined),
      )
  const admin = workshop.leaf(
    'admin',
    {
      subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
      usages: ['client'],
    },
    () => true,
  )
  if (!admin.isOurs)
    throw new CannotUseFile(admin.path, `is not signed by ${caPath}; ${adviceForOwn}`)
  const serviceAccountKey = workshop.serviceAccountKey()
  const { isOurs, path } = serving
  const trustPem = (isOurs ? ca : serving.pair).certificatePem
  const outOfDate = isOurs ? undefined : validityProblem(serving.certificate, clock.now())
  const warnings = outOfDate === undefined ? [] : [`${path} ${outOfDate}`]
  if (!isOurs && given === undefined)
    warnings.push(`${path} is not signed by ${caPath}: it is used as it is, and never renewed`)
  const named = settings.tlsSniCertKey.map(namedPair)
  for (const [i, { certificatePem }] of named.entries()) {
    const problem = validityProblem(new X509Certificate(certificatePem), clock.now())
    if (problem !== undefined)
      warnings.push(`--tls-sni-cert-key: ${settings.tlsSniCertKey[i]?.certificate} ${problem}`)
  }
  return {
    ca,
    serving: serving.pair,
    named,
    admin: admin.pair,
    serviceAccountKey,
    trustPem,
    made: workshop.made,
    warnings,
  }
}

/** The user of the server as its own client. */
export const apiserverUser: User = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:masters'],
  extra: {},
}

/** The server name that kube-apiserver uses for its loopback certificate. */
const serverName = 'apiserver-loopback-client'

/**
 * The certificate with which the server calls itself, created at each start and never written. It
 * serves two purposes: it authenticates the server as `system:apiserver`, and it gives the listener
 * a unique server name. The authority that verifies client certificates signs it.
 */
export function makeLoopback(authority: KeyPair, url: string, nowMs: number): Loopback {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cert = issueCertificate(
    {
      subject: { commonName: apiserverUser.name, organizations: apiserverUser.groups },
      usages: ['server', 'client'],
      dnsNames: [serverName],
      publicKey: createPublicKey(privateKey),
      serial: randomBytes(16),
      notBeforeMs: nowMs - backdatedMs,
      notAfterMs: nowMs + authorityLifeMs,
    },
    {
      privateKey: createPrivateKey(authority.keyPem),
      certificate: new X509Certificate(authority.certificatePem),
    },
  )
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return { url, serverName, cert, key }
}
