/**
 * A kubelet may request certificates only for pods on its node, and only for signers that the pod's
 * volumes specify.
 */
import type { Authorizer } from '#access/authorize.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { change, type Release } from '#api/releases/change.ts'
import { ApiError, notFound } from '#api/status-error.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const mirrorAnnotation = 'kubernetes.io/config.mirror'
const requiresSigner = change('a node requests pod certificates for signers of its pods', {
  since: 37,
})

interface Rights {
  readonly authorizer: Authorizer
  readonly release: Release
  readonly feature: (gate: string) => boolean
}

/** The pod or its node is not known yet, or was deleted: the client may retry. */
const retry = (message: string) => new ApiError(500, '', message)

export async function podCertificateRule(
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
  rights: Rights,
): Promise<void> {
  const { operation, subresource, namespace } = request
  if (!rights.feature('PodCertificateRequest'))
    throw refusal(request, 'PodCertificateRequest feature gate is disabled')
  if (operation !== 'CREATE') throw refusal(request, `unexpected operation ${operation}`)
  if (subresource !== '') throw refusal(request, `unexpected subresource ${subresource}`)
  const spec: Loose = request.object?.spec ?? {}
  await requireNode(request, spec, node, reader)
  const pod = await requirePod(request, spec, reader)
  const who = goQuote(`${namespace}/${spec.podName}`)
  if (spec.serviceAccountName !== pod.spec.serviceAccountName) {
    const why = `PodCertificateRequest for pod ${who} contains serviceAccountName (${goQuote(spec.serviceAccountName ?? '')}) that differs from running pod (${goQuote(pod.spec.serviceAccountName ?? '')})`
    throw refusal(request, why)
  }
  await requireAccount(request, spec, reader)
  if (!rights.release.has(requiresSigner) || mountsSigner(pod, spec.signerName)) return
  if (await maySign(request, spec, rights.authorizer)) return
  const why = `pod ${who} does not mount a podCertificate projected volume for signer ${goQuote(spec.signerName)}`
  throw refusal(request, why)
}

async function requireNode(
  request: AdmissionRequest,
  { nodeName, nodeUID, podName }: Loose,
  node: string,
  reader: ObjectReader,
): Promise<void> {
  const quoted = goQuote(nodeName ?? '')
  if (nodeName !== node) {
    const why = `PodCertificateRequest.Spec.NodeName=${quoted}, which is not the requesting node ${goQuote(node)}`
    throw refusal(request, why)
  }
  const found = await reader.get('', 'nodes', '', node)
  if (found === undefined) {
    const { message } = notFound({ group: '', plural: 'node' }, node)
    throw retry(`while retrieving node ${quoted} named in the PodCertificateRequest: ${message}`)
  }
  const { uid = '' } = found.metadata
  if (uid === nodeUID) return
  const who = goQuote(`${request.namespace}/${podName}`)
  throw retry(
    `PodCertificateRequest for pod ${who} names node UID ${goQuote(nodeUID ?? '')}, inconsistent with the running node (${goQuote(uid)})`,
  )
}

async function requirePod(
  request: AdmissionRequest,
  { podName = '', podUID = '', nodeName }: Loose,
  reader: ObjectReader,
): Promise<KubeObject> {
  const who = goQuote(`${request.namespace}/${podName}`)
  const pod = await reader.get('', 'pods', request.namespace, podName)
  if (pod === undefined) {
    const { message } = notFound({ group: '', plural: 'pod' }, podName)
    throw retry(`while retrieving pod ${who} named in the PodCertificateRequest: ${message}`)
  }
  const { uid = '', annotations } = pod.metadata
  if (uid !== podUID) {
    throw retry(
      `PodCertificateRequest for pod ${who} contains pod UID (${goQuote(podUID)}) which differs from running pod ${goQuote(uid)}`,
    )
  }
  if (pod.spec.nodeName !== nodeName) {
    const why = `pod ${who} is not running on node ${goQuote(nodeName)} named in the PodCertificateRequest`
    throw refusal(request, why)
  }
  if (annotations?.[mirrorAnnotation] === undefined) return pod
  throw refusal(request, `pod ${who} is a mirror pod`)
}

async function requireAccount(
  { namespace }: AdmissionRequest,
  { podName, serviceAccountName = '', serviceAccountUID = '' }: Loose,
  reader: ObjectReader,
): Promise<void> {
  const account = await reader.get('', 'serviceaccounts', namespace, serviceAccountName)
  if (account === undefined) {
    const { message } = notFound({ group: '', plural: 'serviceaccount' }, serviceAccountName)
    const who = goQuote(`${namespace}/${serviceAccountName}`)
    throw retry(
      `while retrieving service account ${who} named in the PodCertificateRequest: ${message}`,
    )
  }
  const { uid = '' } = account.metadata
  if (uid === serviceAccountUID) return
  throw retry(
    `PodCertificateRequest for pod ${goQuote(`${namespace}/${podName}`)} names service account UID ${goQuote(serviceAccountUID)}, which differs from the running service account (${goQuote(uid)})`,
  )
}

const mountsSigner = ({ spec }: KubeObject, signer: string): boolean =>
  ((spec.volumes ?? []) as Loose[]).some(({ projected }) =>
    ((projected?.sources ?? []) as Loose[]).some(
      ({ podCertificate }) => podCertificate?.signerName === signer,
    ),
  )

async function maySign(
  { user, namespace, kind }: AdmissionRequest,
  { signerName, serviceAccountName }: Loose,
  authorizer: Authorizer,
): Promise<boolean> {
  const { decision } = await authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-podcertificate-signer',
    isResource: true,
    group: kind.group,
    version: kind.version,
    // A role cannot name a resource with a slash.
    resource: String(signerName).replaceAll('/', ':'),
    subresource: '',
    namespace,
    name: serviceAccountName,
    path: '',
  })
  return decision === 'allow'
}
