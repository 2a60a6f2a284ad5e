/**
 * A kubelet changes what belongs to its own node: its Node, Lease and CSINode, the status of its pods, mirror pods,
 * tokens of its pods. Labels by which the cluster's operators tell nodes apart are not its to set.
 */
import { nodeIdentity } from '#access/authorize/node.ts'
import { podConfigMapNames, podSecretNames } from '#access/authorize/pod-references.ts'
import type { KubeObject, Loose, OwnerReference } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import { notFound } from '#api/status-error.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { forbiddenLabels } from './node-labels.ts'
import { refusal } from './refusal.ts'

const leaseNamespace = 'kube-node-lease'
const mirrorAnnotation = 'kubernetes.io/config.mirror'

type Rule = (request: AdmissionRequest, node: string, reader: ObjectReader) => void | Promise<void>

const rules: Readonly<Record<string, Rule>> = {
  '/pods': podRule,
  '/nodes': nodeRule,
  '/persistentvolumeclaims': claimRule,
  '/serviceaccounts': tokenRule,
  'coordination.k8s.io/leases': leaseRule,
  'storage.k8s.io/csinodes': csiNodeRule,
}

export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  mutate(request, reader) {
    if (request.operation === 'CONNECT') return
    const node = nodeIdentity(request.user)
    if (node === undefined) return
    if (node === '')
      throw refusal(request, `could not determine node from user ${goQuote(request.user.name)}`)
    return rules[`${request.kind.group}/${request.kind.plural}`]?.(request, node, reader)
  },
}

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
): void | Promise<void> {
  const { subresource, operation } = request
  if (subresource === '') {
    if (operation === 'CREATE') return newPodRule(request, node, reader)
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
  if (pod.spec.serviceAccountName)
    throw refusal(request, `${self} can not create pods that reference a service account`)
  if (podSecretNames(pod).size > 0)
    throw refusal(request, `${self} can not create pods that reference secrets`)
  if (podConfigMapNames(pod).size > 0)
    throw refusal(request, `${self} can not create pods that reference configmaps`)
  if ((pod.spec.volumes ?? []).some((volume: Loose) => volume.persistentVolumeClaim)) {
    throw refusal(request, `${self} can not create pods that reference persistentvolumeclaims`)
  }
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
  if (semanticEqual(request.old?.metadata.labels, request.object?.metadata.labels)) return
  throw refusal(request, `node "${node}" cannot update labels through pod status`)
}

function nodeRule(request: AdmissionRequest, node: string): void {
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
  const labels = forbiddenLabels(object?.metadata.labels, old?.metadata.labels)
  if (labels !== '') throw refusal(request, `is not allowed to modify labels: ${labels}`)
}

function claimRule(request: AdmissionRequest, node: string): void {
  if (request.subresource !== 'status') throw refusal(request, 'may only update PVC status')
  if (request.operation !== 'UPDATE')
    throw refusal(request, `unexpected operation "${request.operation}"`)
  const [next, old] = [bare(request.object as KubeObject), bare(request.old as KubeObject)]
  if (semanticEqual(next, old)) return
  throw refusal(
    request,
    `node "${node}" is not allowed to update fields other than status.capacity and status.conditions: ${goDifference('&core.PersistentVolumeClaim', old, next)}`,
  )
}

/** A claim without what a node may change. */
function bare({ metadata, status, ...rest }: KubeObject): Loose {
  const { resourceVersion: _, managedFields: __, ...meta } = metadata
  const { capacity: ___, conditions: ____, ...state } = status ?? {}
  return { ...rest, metadata: meta, status: state }
}

async function tokenRule(
  request: AdmissionRequest,
  node: string,
  reader: ObjectReader,
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
  if (pod.spec.nodeName === node) return
  throw refusal(request, 'node requested token bound to a pod scheduled on a different node')
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

function csiNodeRule(request: AdmissionRequest, node: string): void {
  if (nameOf(request) === node) return
  throw refusal(request, 'can only access CSINode with the same name as the requesting node')
}
