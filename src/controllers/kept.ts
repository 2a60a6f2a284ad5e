/**
 * The parts of objects that controllers keep in memory: only fields that some controller reads.
 * This saves memory and keeps the data of secrets out of it.
 */
import { createHash } from 'node:crypto'
import { type LabelSelector, selectorOf, selectorOfMap } from '#api/label-selector.ts'
import { LabelSelectorError } from '#api/label-requirement.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'

export interface KeptMeta {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly deleting: boolean
}

export function metaOf({ metadata }: KubeObject): KeptMeta {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
  }
}

/** For objects of which only the metadata is needed, such as namespaces. */
export const keepMeta = (object: KubeObject): KeptMeta => metaOf(object)

export interface KeptNamespace extends KeptMeta {
  readonly active: boolean
}

export const keepNamespace = (object: KubeObject): KeptNamespace => ({
  ...metaOf(object),
  active: object.metadata.deletionTimestamp === undefined && object.status?.phase !== 'Terminating',
})

export interface KeptAccount extends KeptMeta {
  readonly secrets: readonly string[]
}

export const keepAccount = (object: KubeObject): KeptAccount => ({
  ...metaOf(object),
  secrets: (object.secrets ?? []).map(({ name }: Loose) => name ?? ''),
})

export const tokenSecretType = 'kubernetes.io/service-account-token'
export const bootstrapSecretType = 'bootstrap.kubernetes.io/token'
export const accountNameKey = 'kubernetes.io/service-account.name'
export const accountUidKey = 'kubernetes.io/service-account.uid'

export interface KeptSecret extends KeptMeta {
  readonly type: string
  readonly account: string
  readonly accountUid: string
  readonly hasToken: boolean
  /** The digest of the authority certificates in it. */
  readonly authorityDigest: string
  readonly dataNamespace: string
  /** The expiration of a bootstrap token, as written. */
  readonly expiration: string
}

export const digestOf = (text: string) => createHash('sha256').update(text).digest('base64')
const plain = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString()

export function keepSecret(object: KubeObject): KeptSecret | undefined {
  const { type = '', data = {} } = object
  if (type !== tokenSecretType && type !== bootstrapSecretType) return undefined
  const annotations = object.metadata.annotations ?? {}
  return {
    ...metaOf(object),
    type,
    account: annotations[accountNameKey] ?? '',
    accountUid: annotations[accountUidKey] ?? '',
    hasToken: (data.token ?? '') !== '',
    authorityDigest: digestOf(plain(data['ca.crt'])),
    dataNamespace: plain(data.namespace),
    expiration: plain(data.expiration),
  }
}

export const rootConfigMapName = 'kube-root-ca.crt'

export interface KeptRootConfigMap extends KeptMeta {
  readonly right: (rootCertificates: string) => boolean
}

export function keepRootConfigMap(object: KubeObject): KeptRootConfigMap | undefined {
  if (object.metadata.name !== rootConfigMapName) return undefined
  const data: Loose = object.data ?? {}
  const digest = digestOf(data['ca.crt'] ?? '')
  const alone = Object.keys(data).length === 1
  return { ...metaOf(object), right: (wanted) => alone && digest === digestOf(wanted) }
}

export interface KeptRole extends KeptMeta {
  readonly labels: Readonly<Record<string, string>>
  readonly selectors: readonly Loose[] | undefined
}

export const keepRole = (object: KubeObject): KeptRole => ({
  ...metaOf(object),
  labels: object.metadata.labels ?? {},
  selectors: object.aggregationRule?.clusterRoleSelectors,
})

export interface KeptPod extends KeptMeta {
  readonly node: string
  readonly claims: readonly string[]
  /** Its containers have ended for good. */
  readonly ended: boolean
  /** When it was made, as written. */
  readonly created: string
}

const unendedPhases = ['', 'Pending', 'Running', 'Unknown']

export const podOf = (object: KubeObject): KeptPod => ({
  ...metaOf(object),
  node: object.spec?.nodeName ?? '',
  claims: claimsOf(object),
  ended: !unendedPhases.includes(object.status?.phase ?? ''),
  created: object.metadata.creationTimestamp ?? '',
})

/** Keeps only pods that are being deleted, have ended, or use a claim. */
export function keepPod(object: KubeObject): KeptPod | undefined {
  const pod = podOf(object)
  return pod.deleting || pod.ended || pod.claims.length > 0 ? pod : undefined
}

/** An ephemeral volume has a claim named after the pod and the volume. */
function claimsOf({ metadata, spec }: KubeObject): string[] {
  const found: string[] = []
  for (const volume of spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim) found.push(volume.persistentVolumeClaim.claimName)
    else if (volume.ephemeral) found.push(`${metadata.name}-${volume.name}`)
  }
  return found
}

export interface KeptVolume extends KeptMeta {
  readonly bound: boolean
  readonly protected: boolean
}

export const claimFinalizer = 'kubernetes.io/pvc-protection'
export const volumeFinalizer = 'kubernetes.io/pv-protection'

export const keepVolume = (object: KubeObject): KeptVolume => ({
  ...metaOf(object),
  bound: object.status?.phase === 'Bound',
  protected: (object.metadata.finalizers ?? []).some(
    (name) => name === claimFinalizer || name === volumeFinalizer,
  ),
})

export interface KeptJob extends KeptMeta {
  /**
   * When the job may be deleted, in milliseconds since 1970. Undefined if it has not finished or
   * has no TTL.
   */
  readonly endsAtMs: number | undefined
}

export function keepJob(object: KubeObject): KeptJob | undefined {
  const seconds: number | undefined = object.spec?.ttlSecondsAfterFinished
  if (seconds === undefined) return undefined
  const ended = (object.status?.conditions ?? []).find(
    ({ type, status }: Loose) => (type === 'Complete' || type === 'Failed') && status === 'True',
  )
  if (ended?.lastTransitionTime === undefined) return undefined
  return { ...metaOf(object), endsAtMs: Date.parse(ended.lastTransitionTime) + seconds * 1000 }
}

/** A node with its zone, which is empty if the node has none. */
export const keepZonedNode = (object: KubeObject): KeptMeta & { readonly zone: string } => ({
  ...metaOf(object),
  zone: object.metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
})

/** An object that a workload may own. */
export interface KeptOwned extends KeptMeta {
  readonly labels: Readonly<Record<string, string>>
  /** The uid of its controller, or empty. */
  readonly owner: string
}

export const keepOwned = (object: KubeObject): KeptOwned => ({
  ...metaOf(object),
  labels: object.metadata.labels ?? {},
  owner: object.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '',
})

/** A workload that selects objects by their labels. */
export interface KeptSelecting extends KeptOwned {
  readonly selector: LabelSelector
}

export const keepSelecting = (object: KubeObject): KeptSelecting => ({
  ...keepOwned(object),
  selector: selectorOfWorkload(object),
})

export const keepSelectingByMap = (object: KubeObject): KeptSelecting => ({
  ...keepOwned(object),
  selector: selectorOfPlainMap(object),
})

/** An owner that adopts nothing, such as a cron job. */
export const keepSelectingNothing = (object: KubeObject): KeptSelecting => ({
  ...keepOwned(object),
  selector: 'nothing',
})

/** An invalid selector matches nothing. */
export function selectorOfWorkload({ spec }: KubeObject): LabelSelector {
  try {
    return selectorOf(spec?.selector)
  } catch (error) {
    if (error instanceof LabelSelectorError) return 'nothing'
    throw error
  }
}

/** Services and replication controllers have a plain map. An empty one selects nothing. */
export function selectorOfPlainMap({ spec }: KubeObject): LabelSelector {
  const isEmpty = Object.keys(spec?.selector ?? {}).length === 0
  return isEmpty ? 'nothing' : selectorOfMap(spec?.selector)
}
