/**
 * The parts of a certificate that decide the user and what the certificate may be used for, read
 * from its DER. Text renderings of a subject cannot distinguish an organisation called
 * "x\nCN=admin" from two attributes.
 */
import type { X509Certificate } from 'node:crypto'
import {
  DerError,
  type DerValue,
  derBoolean,
  derTag,
  derText,
  derValue,
  derValues,
  expectTag,
  objectIdentifier,
  smallInteger,
} from './der.ts'

export interface CertificateFields {
  /** Subject and issuer as DER, to compare them byte by byte. */
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The attributes of the subject that Kubernetes has defined for the uid of a user. */
  readonly uids: readonly string[]
  readonly notBefore: number
  readonly notAfter: number
  readonly signatureAlgorithm: string
  /** Undefined without the extension. */
  readonly isAuthority: boolean | undefined
  readonly pathLengthMax: number | undefined
  /** Undefined without the extension: then every use is allowed. */
  readonly maySignCertificates: boolean | undefined
  /** Object identifiers; undefined without the extension: then every use is allowed. */
  readonly extendedUsages: readonly string[] | undefined
  readonly hasNameConstraints: boolean
  readonly hasAlternativeNames: boolean
  /** Critical extensions that this server does not support. */
  readonly unhandledCritical: readonly string[]
}

const commonNameId = '2.5.4.3'
const organizationId = '2.5.4.10'
const uidId = '1.3.6.1.4.1.57683.2'
const extensionIds = {
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedUsage: '2.5.29.37',
}

/** Parses the fields of a certificate. Throws DerError if it is malformed. */
export function certificateFields(certificate: X509Certificate): CertificateFields {
  const [body, algorithm] = derValues(expectTag(derValue(certificate.raw), derTag.sequence).content)
  const fields = derValues(expectTag(body, derTag.sequence).content)
  if (fields[0]?.tag === 0xa0) fields.shift() // version
  const [, , issuer, , subject, , ...rest] = fields
  const extensions = rest.find(({ tag }) => tag === 0xa3)
  const { names, organizations, uids } = subjectNames(expectTag(subject, derTag.sequence))
  return {
    subject: expectTag(subject, derTag.sequence).whole,
    issuer: expectTag(issuer, derTag.sequence).whole,
    commonName: names.at(-1) ?? '',
    organizations,
    uids,
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
    signatureAlgorithm: objectIdentifier(
      derValues(expectTag(algorithm, derTag.sequence).content)[0],
    ),
    ...extensionFields(extensions),
  }
}

/**
 * The subject's attributes in order. The user name is the last common name; all organizations are
 * groups.
 */
function subjectNames(subject: DerValue): Record<'names' | 'organizations' | 'uids', string[]> {
  const names: string[] = []
  const organizations: string[] = []
  const uids: string[] = []
  for (const set of derValues(subject.content)) {
    for (const attribute of derValues(expectTag(set, derTag.set).content)) {
      const [type, value, ...more] = derValues(expectTag(attribute, derTag.sequence).content)
      if (value === undefined || more.length > 0) throw new DerError('malformed name')
      const id = objectIdentifier(type)
      if (id === commonNameId) names.push(derText(value))
      else if (id === organizationId) organizations.push(derText(value))
      else if (id === uidId) uids.push(derText(value))
    }
  }
  return { names, organizations, uids }
}

type ExtensionFields = Pick<
  CertificateFields,
  | 'isAuthority'
  | 'pathLengthMax'
  | 'maySignCertificates'
  | 'extendedUsages'
  | 'hasNameConstraints'
  | 'hasAlternativeNames'
  | 'unhandledCritical'
>

function extensionFields(wrapper: DerValue | undefined): ExtensionFields {
  const found: { -readonly [K in keyof ExtensionFields]: ExtensionFields[K] } = {
    isAuthority: undefined,
    pathLengthMax: undefined,
    maySignCertificates: undefined,
    extendedUsages: undefined,
    hasNameConstraints: false,
    hasAlternativeNames: false,
    unhandledCritical: [],
  }
  if (wrapper === undefined) return found
  const seen = new Set<string>()
  for (const extension of derValues(
    expectTag(derValue(wrapper.content), derTag.sequence).content,
  )) {
    const parts = derValues(expectTag(extension, derTag.sequence).content)
    const id = objectIdentifier(parts[0])
    if (seen.has(id)) throw new DerError(`extension ${id} twice`)
    seen.add(id)
    const critical = parts.length === 3 && derBoolean(parts[1] as DerValue)
    const content = expectTag(parts.at(-1), derTag.octetString).content
    if (id === extensionIds.keyUsage) found.maySignCertificates = signsCertificates(content)
    else if (id === extensionIds.basicConstraints) Object.assign(found, basicConstraints(content))
    else if (id === extensionIds.extendedUsage)
      found.extendedUsages = derValues(expectTag(derValue(content), derTag.sequence).content).map(
        objectIdentifier,
      )
    else if (id === extensionIds.nameConstraints) found.hasNameConstraints = true
    else if (id === extensionIds.alternativeNames) found.hasAlternativeNames = true
    else if (critical) found.unhandledCritical = [...found.unhandledCritical, id]
  }
  return found
}

function basicConstraints(content: Buffer) {
  const [first, second] = derValues(expectTag(derValue(content), derTag.sequence).content)
  const hasFlag = first?.tag === derTag.boolean
  const length = hasFlag ? second : first
  return {
    isAuthority: hasFlag && derBoolean(first),
    pathLengthMax: length === undefined ? undefined : smallInteger(length),
  }
}

/** Bit five of the key usages. */
function signsCertificates(content: Buffer): boolean {
  const bits = expectTag(derValue(content), derTag.bitString).content
  return ((bits[1] ?? 0) & 0x04) !== 0
}
