/**
 * PKCS #10 certificate requests: whether bytes are one, and whether it is signed with the key it is
 * for.
 */
import { Asn1Error, type Asn1Value, readShape, type Asn1Type } from './go-asn1.ts'
import { decodePem } from './pem.ts'
import { readPublicKey } from './public-key.ts'
import { signatureProblem } from './signature.ts'
import { alternativeNamesProblem } from './alternative-names.ts'

const integer: Asn1Type = { is: 'integer', name: 'int' }
const oid: Asn1Type = { is: 'oid', name: 'ObjectIdentifier' }
const bits: Asn1Type = { is: 'bits', name: 'BitString' }
const raw: Asn1Type = { is: 'raw', name: 'RawValue' }
const algorithm: Asn1Type = {
  is: 'struct',
  name: 'AlgorithmIdentifier',
  fields: [
    ['algorithm', oid],
    ['parameters', { ...raw, optional: true }],
  ],
}
const publicKey: Asn1Type = {
  is: 'struct',
  name: 'publicKeyInfo',
  fields: [
    ['algorithm', algorithm],
    ['bits', bits],
  ],
}
const information: Asn1Type = {
  is: 'struct',
  name: 'tbsCertificateRequest',
  fields: [
    ['version', integer],
    ['subject', raw],
    ['key', publicKey],
    ['attributes', { is: 'list', of: raw, name: '', tag: 0 }],
  ],
}
const request: Asn1Type = {
  is: 'struct',
  name: 'certificateRequest',
  fields: [
    ['information', information],
    ['algorithm', algorithm],
    ['signature', bits],
  ],
}
const distinguished: Asn1Type = {
  is: 'list',
  name: 'RDNSequence',
  of: {
    is: 'list',
    name: 'RelativeDistinguishedNameSET',
    set: true,
    of: {
      is: 'struct',
      name: 'AttributeTypeAndValue',
      fields: [
        ['type', oid],
        ['value', { is: 'any', name: '' }],
      ],
    },
  },
}
const attribute: Asn1Type = {
  is: 'struct',
  name: 'pkcs10Attribute',
  fields: [
    ['id', oid],
    ['values', { is: 'list', name: '', set: true, of: raw }],
  ],
}
const extensions: Asn1Type = {
  is: 'list',
  name: '',
  of: {
    is: 'struct',
    name: 'Extension',
    fields: [
      ['id', oid],
      ['critical', { is: 'boolean', name: 'bool', optional: true }],
      ['value', { is: 'bytes', name: '' }],
    ],
  },
}
const extensionRequestOid = '2a864886f70d01090e'
const alternativeNamesOid = '551d11'

const hexOf = (read: Asn1Value): string => read.contents.toString('hex')
const part = (read: Asn1Value, ...names: string[]): Asn1Value =>
  names.reduce((at, name) => at.fields[name] as Asn1Value, read)

/** The error in a PEM certificate request, with Go's message. */
export function certificateRequestProblem(bytes: Buffer): string | undefined {
  const block = decodePem(bytes)
  if (block === undefined || block.type !== 'CERTIFICATE REQUEST') {
    return 'PEM block type must be CERTIFICATE REQUEST'
  }
  return derRequestProblem(block.bytes)
}

/**
 * The key that a request in DER is for. `problem`: it is not a request; no key: its algorithm is
 * not known.
 */
export function requestedKey(der: Buffer): ReturnType<typeof readPublicKey> {
  try {
    const { value, end } = readShape(der, request)
    if (end < der.length) return { problem: 'asn1: syntax error: trailing data' }
    return keyOf(part(value, 'information'))
  } catch (error) {
    if (error instanceof Asn1Error) return { problem: error.message }
    throw error
  }
}

/**
 * The error in a DER certificate request. Undefined if it is well formed and signed with its own
 * key.
 */
export function derRequestProblem(der: Buffer): string | undefined {
  try {
    return requestProblem(der)
  } catch (error) {
    if (error instanceof Asn1Error) return error.message
    throw error
  }
}

const keyOf = (info: Asn1Value) =>
  readPublicKey({
    algorithm: hexOf(part(info, 'key', 'algorithm', 'algorithm')),
    parameters: part(info, 'key', 'algorithm', 'parameters').whole,
    bits: part(info, 'key', 'bits').contents.subarray(1),
    whole: part(info, 'key').whole,
  })

function requestProblem(der: Buffer): string | undefined {
  const { value, end } = readShape(der, request)
  if (end < der.length) return 'asn1: syntax error: trailing data'
  const info = part(value, 'information')
  const read = keyOf(info)
  if ('problem' in read) return read.problem
  const subject = part(info, 'subject').whole
  if (readShape(subject, distinguished).end < subject.length) {
    return 'x509: trailing data after X.509 Subject'
  }
  return (
    extensionsProblem(part(info, 'attributes').items) ??
    signatureProblem(
      {
        message: info.whole,
        signature: part(value, 'signature').contents.subarray(1),
        algorithm: hexOf(part(value, 'algorithm', 'algorithm')),
        parameters: part(value, 'algorithm', 'parameters').whole,
      },
      read.key,
    )
  )
}

/** Invalid attributes are skipped. The attribute with requested extensions must be valid. */
function extensionsProblem(attributes: readonly Asn1Value[]): string | undefined {
  const wanted: Asn1Value[] = []
  for (const { whole } of attributes) {
    const values = attributeValues(whole)
    if (values?.[0] === undefined) continue
    wanted.push(...readShape(values[0].whole, extensions).value.items)
  }
  const ids = wanted.map((extension) => hexOf(part(extension, 'id')))
  if (new Set(ids).size < ids.length) {
    return 'x509: certificate request contains duplicate requested extensions'
  }
  const names = wanted.filter((_, i) => ids[i] === alternativeNamesOid)
  return names
    .map((extension) => alternativeNamesProblem(part(extension, 'value').contents))
    .find((problem) => problem !== undefined)
}

function attributeValues(whole: Buffer): readonly Asn1Value[] | undefined {
  try {
    const { value } = readShape(whole, attribute)
    return hexOf(part(value, 'id')) === extensionRequestOid
      ? part(value, 'values').items
      : undefined
  } catch (error) {
    if (error instanceof Asn1Error) return undefined
    throw error
  }
}
