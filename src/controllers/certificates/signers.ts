/**
 * The requests that each built-in signer signs, and the messages for rejected requests, as in
 * kube-apiserver.
 */
import type { RequestNames } from '#kinds/certificates/certificate-signing-request/kubelet-request.ts'

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'

type Refusal = string | undefined
type Rule = (request: RequestNames, usages: readonly string[]) => Refusal

const organizationWrong = 'subject organization is not system:nodes'
const commonNameWrong = 'subject common name does not begin with system:node:'

const isNodes = ({ organizations }: RequestNames) =>
  organizations.length === 1 && organizations[0] === 'system:nodes'
const isNode = ({ commonName }: RequestNames) => commonName.startsWith('system:node:')

function usagesWrong(usages: readonly string[], wanted: readonly string[]): Refusal {
  const set = new Set(usages)
  const same = set.size === wanted.length && wanted.every((usage) => set.has(usage))
  return same ? undefined : `usages did not match [${wanted.toSorted().join(' ')}]`
}

export const kubeletClientRule: Rule = (request, usages) => {
  if (!isNodes(request)) return organizationWrong
  if (request.dnsNames > 0) return 'DNS subjectAltNames are not allowed'
  if (request.emails > 0) return 'Email subjectAltNames are not allowed'
  if (request.ips > 0) return 'IP subjectAltNames are not allowed'
  if (request.uris > 0) return 'URI subjectAltNames are not allowed'
  if (!isNode(request)) return commonNameWrong
  return usagesWrong(usages, ['client auth', 'digital signature', 'key encipherment'])
}

const kubeletServingRule: Rule = (request, usages) => {
  if (!isNodes(request)) return organizationWrong
  if (request.dnsNames + request.ips === 0) return 'DNS or IP subjectAltName is required'
  if (request.emails > 0) return 'Email subjectAltNames are not allowed'
  if (request.uris > 0) return 'URI subjectAltNames are not allowed'
  const wrong = usagesWrong(usages, ['digital signature', 'key encipherment', 'server auth'])
  if (wrong !== undefined) return wrong
  return isNode(request) ? undefined : commonNameWrong
}

const clientRule: Rule = (_request, usages) => {
  const optional = ['digital signature', 'key encipherment']
  const wrong = usages.find((usage) => usage !== 'client auth' && !optional.includes(usage))
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth'
}

/** The built-in signers. Other programs handle all other signer names. */
export const signerRules: ReadonlyMap<string, Rule> = new Map([
  ['kubernetes.io/kube-apiserver-client', clientRule],
  [kubeletClientSigner, kubeletClientRule],
  ['kubernetes.io/kubelet-serving', kubeletServingRule],
  ['kubernetes.io/legacy-unknown', () => undefined],
])
