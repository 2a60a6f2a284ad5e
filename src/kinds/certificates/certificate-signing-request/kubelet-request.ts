/**
 * Recognises certificate requests of kubelets by subject and usages. v1beta1 assigns a default
 * signer to them.
 */
import { type DerValue, readText, valuesIn } from '#base/der.ts'
import { decodePem } from './pem.ts'

export interface RequestNames {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly dnsNames: number
  readonly emails: number
  readonly ips: number
  readonly uris: number
}

const commonNameOid = '550403'
const organizationOid = '55040a'
const extensionRequestOid = '2a864886f70d01090e'
const alternativeNamesOid = '551d11'
const attributesTag = 0xa0

const children = (value: DerValue | undefined): DerValue[] =>
  value === undefined ? [] : (valuesIn(value.contents) ?? [])
const hexOf = (value: DerValue | undefined): string => value?.contents.toString('hex') ?? ''

/** Empty if the value is not a string. Certificates with such a name are rejected. */
function textOf(value: DerValue | undefined): string[] {
  if (value === undefined) return []
  const read = readText(value.tag, value.contents)
  return 'text' in read ? [read.text] : []
}

/** The requested subject and the number of alternative names in a PEM certificate request. */
export function requestNames(bytes: Buffer): RequestNames | undefined {
  const block = decodePem(bytes)
  if (block === undefined || block.type !== 'CERTIFICATE REQUEST') return undefined
  const [info] = children(valuesIn(block.bytes)?.[0])
  const [, subject, key, attributes] = children(info)
  if (subject === undefined || key === undefined) return undefined
  const names = children(subject).flatMap(children).map(children)
  const texts = (oid: string) =>
    names.filter(([type]) => hexOf(type) === oid).flatMap(([, value]) => textOf(value))
  const kinds = alternativeNames(attributes)
  const count = (tag: number) => kinds.filter((kind) => kind === tag).length
  return {
    commonName: texts(commonNameOid).at(-1) ?? '',
    organizations: texts(organizationOid),
    emails: count(0x81),
    dnsNames: count(0x82),
    uris: count(0x86),
    ips: count(0x87),
  }
}

/** The tags of the alternative names in the requested extensions. */
function alternativeNames(attributes: DerValue | undefined): number[] {
  if (attributes?.tag !== attributesTag) return []
  return children(attributes)
    .map(children)
    .filter(([oid]) => hexOf(oid) === extensionRequestOid)
    .flatMap(([, set]) => children(set))
    .flatMap(children)
    .map(children)
    .filter(([oid]) => hexOf(oid) === alternativeNamesOid)
    .flatMap((extension) => children(extension.at(-1)))
    .flatMap(children)
    .map((name) => name.tag)
}

const sameUsages = (list: readonly string[], wanted: readonly string[]): boolean => {
  const set = new Set(list)
  return set.size === wanted.length && wanted.every((usage) => set.has(usage))
}

const isNode = ({ commonName, organizations }: RequestNames): boolean =>
  organizations.length === 1 &&
  organizations[0] === 'system:nodes' &&
  commonName.startsWith('system:node:')

/** The v1beta1 default signer of a request without signerName. */
export function defaultSigner(request: string | undefined, usages: readonly string[]): string {
  const names = requestNames(Buffer.from(request ?? '', 'base64'))
  if (names !== undefined && isNode(names)) {
    const { dnsNames, emails, ips, uris } = names
    const shared = ['digital signature', 'key encipherment']
    const nameless = dnsNames + emails + ips + uris === 0
    if (nameless && sameUsages(usages, [...shared, 'client auth'])) {
      return 'kubernetes.io/kube-apiserver-client-kubelet'
    }
    const named = dnsNames + ips > 0 && emails + uris === 0
    if (named && sameUsages(usages, [...shared, 'server auth'])) {
      return 'kubernetes.io/kubelet-serving'
    }
  }
  return 'kubernetes.io/legacy-unknown'
}
