/**
 * The NodeRestriction plugin limits a kubelet to objects of its own node. These are Node, Lease,
 * CSINode, ResourceSlices, pod status, mirror pods, and tokens and certificates of its pods. The
 * kubelet cannot set labels with which operators isolate nodes.
 */
import type { Authorizer } from '#access/authorize.ts'
import { nodeIdentity } from '#access/authorize/node.ts'
import type { KubeObject, Loose, OwnerReference } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { change, type Release } from '#api/releases/change.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { notFound } from '#api/status-error.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { requestNames } from '#kinds/certificates/certificate-signing-request/kubelet-request.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { forbiddenLabels } from './node-labels.ts'
import { referenceOf } from './node-mirror-pods.ts'
import { podCertificateRule } from './node-pod-certificates.ts'
import { requireAudience } from './node-token-audience.ts'
import { refusal } from './refusal.ts'

const leaseNamespace = 'kube-node-lease'
const mirrorAnnotation = 'kubernetes.io/config.mirror'

export interface NodeRights {
  readonly authorizer: Authorizer
  readonly release: Release
  readonly feature: (gate: string) => boolean
}

type Rule = (
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
  rights: NodeRights,
) => void | Promise<void>

const ownersAreFixed = change('a node cannot change the owners of its Node', { since: 31 })
const statusNamesQuantity = change('the refusal of a claim names status.quantity', { since: 30 })
const deletesOwnSlices = change('a node deletes only its own resource slices', { since: 31 })
const requestsOwnCertificates = change('a node requests certificates only for its own name', {
  since: 31,
})

const rules: Readonly<Record<string, Rule>> = {
  '/pods': podRule,
  '/nodes': nodeRule,
  '/persistentvolumeclaims': claimRule,
  '/serviceaccounts': tokenRule,
  'coordination.k8s.io/leases': leaseRule,
  'storage.k8s.io/csinodes': csiNodeRule,
  'resource.k8s.io/resourceslices': sliceRule,
  'certificates.k8s.io/certificatesigningrequests': certificateRule,
  'certificates.k8s.io/podcertificaterequests': podCertificateRule,
}

export const nodeRestriction = (rights: NodeRights): AdmissionPlugin => ({
  name: 'NodeRestriction',
  mutate(request, reader) {
    if (request.operation === 'CONNECT') return
    const node = nodeIdentity(request.user)
    if (node === undefined) return
    if (node === '')
      throw refusal(request, `could not determine node from user ${goQuote(request.user.name)}`)
    const rule = rules[`${request.kind.group}/${request.kind.plural}`]
    return rule?.(request, node, reader, rights)
  },
})

async function podNamed(
  { namespace }: AdmissionRequest,
  name: string,
  reader: ObjectReader,
): Promise<KubeObject> {
  const found = await reader.get('', 'pods', namespace, name)
  if (found === undefined) throw notFound({ group: '', plural: 'pod' }, name)
  return found
}

function podRule(
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
  { release }: NodeRights,
): void | Promise<void> {
  const { subresource, operation } = request
  if (subresource === '') {
    if (operation === 'CREATE') return newPodRule(request, node, reader, release)
    if (operation === 'DELETE') {
      return requireOwnPod(
        request,
        request.name,
        node,
        reader,
        `node "${node}" can only delete pods with spec.nodeName set to itself`,
      )
    }
    throw refusal(
      request,
      `unexpected operation "${operation}", node "${node}" can only create and delete mirror pods`,
    )
  }
  if (subresource === 'status') return podStatusRule(request, node)
  if (subresource !== 'eviction') {
    throw refusal(
      request,
      `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`,
    )
  }
  if (operation !== 'CREATE') throw refusal(request, `unexpected operation ${operation}`)
  const name = request.name || (request.object?.metadata.name ?? '')
  if (name === '') throw refusal(request, 'could not determine pod from request data')
  return requireOwnPod(
    request,
    name,
    node,
    reader,
    `node ${node} can only evict pods with spec.nodeName set to itself`,
  )
}

async function requireOwnPod(
  request: AdmissionRequest,
  name: string,
  node: string,
  reader: ObjectReader,
  why: string,
) {
  const pod = await podNamed(request, name, reader)
  if (pod.spec.nodeName !== node) throw refusal(request, why)
}

async function newPodRule(
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
  release: Release,
): Promise<void> {
  const pod = request.object as KubeObject
  const self = `node "${node}"`
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    throw refusal(
      request,
      `pod does not have "${mirrorAnnotation}" annotation, ${self} can only create mirror pods`,
    )
  }
  if (pod.spec.nodeName !== node)
    throw refusal(request, `${self} can only create pods with spec.nodeName set to itself`)
  await ownerRule(request, node, reader)
  const reference = referenceOf(pod, release)
  if (reference !== undefined)
    throw refusal(request, `${self} can not create pods that reference ${reference}`)
}

async function ownerRule(
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
): Promise<void> {
  const owners: OwnerReference[] = request.object?.metadata.ownerReferences ?? []
  const only = `node "${node}" can only create pods with`
  if (owners.length > 1) throw refusal(request, `${only} a single owner reference set to itself`)
  const [owner] = owners
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refusal(request, `${only} an owner reference set to itself`)
  }
  if (owner.controller !== true)
    throw refusal(request, `${only} a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion === true) {
    throw refusal(request, `node "${node}" must not set blockOwnerDeletion on an owner reference`)
  }
  const found = await reader.get('', 'nodes', '', node)
  if (found === undefined) throw notFound({ group: '', plural: 'node' }, node)
  if (owner.uid === found.metadata.uid) return
  throw refusal(
    request,
    `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`,
  )
}

function podStatusRule(request: AdmissionRequest, node: string): void {
  if (request.operation !== 'UPDATE')
    throw refusal(request, `unexpected operation "${request.operation}"`)
  if (request.old?.spec.nodeName !== node) {
    throw refusal(
      request,
      `node "${node}" can only update pod status for pods with spec.nodeName set to itself`,
    )
  }
  const [next, old] = [request.object, request.old]
  if (!semanticEqual(old?.metadata.labels, next?.metadata.labels))
    throw refusal(request, `node "${node}" cannot update labels through pod status`)
  // Releases without a field have already dropped it.
  for (const [field, what] of Object.entries(devicesInStatus)) {
    if (semanticEqual(old?.status?.[field], next?.status?.[field])) continue
    throw refusal(request, `node "${node}" cannot update ${what}`)
  }
}

/**
 * The scheduler and controllers write the devices of a pod. The first text lacks a letter, as in
 * kube-apiserver.
 */
const devicesInStatus: Readonly<Record<string, string>> = {
  resourceClaimStatuses: 'resource claim statues',
  extendedResourceClaimStatus: 'extended resource claim status',
  nodeAllocatableResourceClaimStatuses: 'node allocatable resource claim statuses',
}

function nodeRule(
  request: AdmissionRequest,
  node: string,
  _: ObjectReader,
  { release }: NodeRights,
): void {
  const { operation, object, old } = request
  const name = request.name || (object?.metadata.name ?? '')
  if (name !== node)
    throw refusal(request, `node "${node}" is not allowed to modify node "${name}"`)
  if (operation === 'CREATE') {
    if (object?.spec?.configSource) {
      throw refusal(
        request,
        `node "${node}" is not allowed to create pods with a non-nil configSource`,
      )
    }
    const labels = forbiddenLabels(object?.metadata.labels, undefined)
    if (labels === '') return
    throw refusal(request, `node "${node}" is not allowed to set the following labels: ${labels}`)
  }
  if (operation !== 'UPDATE') return
  const [next, before] = [object?.spec ?? {}, old?.spec ?? {}]
  if (next.configSource && !semanticEqual(next.configSource, before.configSource)) {
    throw refusal(
      request,
      `node "${node}" is not allowed to update configSource to a new non-nil configSource`,
    )
  }
  if (!semanticEqual(next.taints, before.taints)) {
    throw refusal(request, `node "${node}" is not allowed to modify taints`)
  }
  const owners = [object?.metadata.ownerReferences, old?.metadata.ownerReferences]
  if (release.has(ownersAreFixed) && !semanticEqual(owners[0], owners[1]))
    throw refusal(request, `node "${node}" is not allowed to modify ownerReferences`)
  const labels = forbiddenLabels(object?.metadata.labels, old?.metadata.labels)
  if (labels !== '') throw refusal(request, `is not allowed to modify labels: ${labels}`)
}

function claimRule(
  request: AdmissionRequest,
  node: string,
  _: ObjectReader,
  { release, feature }: NodeRights,
): void {
  if (request.subresource !== 'status') throw refusal(request, 'may only update PVC status')
  if (request.operation !== 'UPDATE')
    throw refusal(request, `unexpected operation "${request.operation}"`)
  const recovers = feature('RecoverVolumeExpansionFailure')
  const next = bare(request.object as KubeObject, recovers)
  const old = bare(request.old as KubeObject, recovers)
  if (semanticEqual(next, old)) return
  const fields = `status.${release.has(statusNamesQuantity) ? 'quantity' : 'capacity'} and status.conditions`
  throw refusal(
    request,
    `node "${node}" is not allowed to update fields other than ${fields}: ${goDifference('&core.PersistentVolumeClaim', old, next)}`,
  )
}

/** The claim without the fields that a node may change. */
function bare({ metadata, status, ...rest }: KubeObject, recovers: boolean): Loose {
  const { resourceVersion: _, managedFields: __, ...meta } = metadata
  const { capacity: ___, conditions: ____, ...state } = status ?? {}
  if (!recovers) return { ...rest, metadata: meta, status: state }
  const { allocatedResources: _a, allocatedResourceStatuses: _s, ...others } = state
  return { ...rest, metadata: meta, status: others }
}

async function tokenRule(
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
  rights: NodeRights,
): Promise<void> {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return
  const ref = request.object?.spec?.boundObjectRef
  if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || !ref.name) {
    throw refusal(request, 'node requested token not bound to a pod')
  }
  if (!ref.uid) throw refusal(request, 'node requested token with a pod binding without a uid')
  const pod = await podNamed(request, ref.name, reader)
  if (ref.uid !== pod.metadata.uid) {
    throw refusal(
      request,
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  if (pod.spec.nodeName !== node)
    throw refusal(request, 'node requested token bound to a pod scheduled on a different node')
  if (rights.feature('ServiceAccountNodeAudienceRestriction'))
    await requireAudience(request, pod, reader, rights)
}

const nameOf = ({ operation, name, object }: AdmissionRequest) =>
  operation === 'CREATE' ? object?.metadata.name : name

function leaseRule(request: AdmissionRequest, node: string): void {
  if (request.namespace !== leaseNamespace) {
    throw refusal(request, `can only access leases in the "${leaseNamespace}" system namespace`)
  }
  if (nameOf(request) === node) return
  throw refusal(request, 'can only access node lease with the same name as the requesting node')
}

function csiNodeRule(
  request: AdmissionRequest,
  node: string,
  _: ObjectReader,
  { feature }: NodeRights,
): void {
  if (nameOf(request) !== node)
    throw refusal(request, 'can only access CSINode with the same name as the requesting node')
  if (request.subresource !== 'status') return
  if (!feature('CSIVolumeHealth'))
    throw refusal(request, 'CSIVolumeHealth feature gate is disabled')
  if (request.operation !== 'UPDATE')
    throw refusal(request, `unexpected operation "${request.operation}"`)
  if (semanticEqual(request.object?.spec, request.old?.spec)) return
  throw refusal(request, `node "${node}" is not allowed to modify CSINode spec via status`)
}

/** The node authorizer does not know the node of a new slice, or of the slices in a collection. */
function sliceRule(
  request: AdmissionRequest,
  node: string,
  _: ObjectReader,
  { release }: NodeRights,
): void {
  const { operation, object, old } = request
  const isOwn = (slice: KubeObject | undefined) =>
    (slice?.spec?.nodeName ?? slice?.nodeName) === node
  const refuse = (verb: string) =>
    refusal(request, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`)
  if (operation === 'CREATE' && !isOwn(object)) throw refuse('create')
  if (operation === 'DELETE' && release.has(deletesOwnSlices) && !isOwn(old)) throw refuse('delete')
}

const kubeletSigners = [
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
]

function certificateRule(
  request: AdmissionRequest,
  node: string,
  _: ObjectReader,
  { release, feature }: NodeRights,
): void {
  if (!release.has(requestsOwnCertificates)) return
  if (feature('AllowInsecureKubeletCertificateSigningRequests')) return
  if (request.operation !== 'CREATE' || !kubeletSigners.includes(request.object?.spec.signerName))
    return
  const names = requestNames(Buffer.from(request.object?.spec.request ?? '', 'base64'))
  if (names === undefined)
    throw refusal(request, 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST')
  const wanted = `system:node:${node}`
  if (names.commonName !== wanted)
    throw refusal(request, `can only create a node CSR with CN=${wanted}`)
}
