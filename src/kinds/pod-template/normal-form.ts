/**
 * Keeps duplicate fields of pods consistent: serviceAccount and serviceAccountName, podIP and
 * podIPs. Also drops annotations that once contained init containers.
 */
import type { Loose, ObjectMeta } from '#api/object-meta.ts'

/** serviceAccountName wins; the deprecated serviceAccount is a copy of it. */
export function agreeOnServiceAccount(spec: Loose): void {
  const name = spec.serviceAccountName || spec.serviceAccount
  if (!name) return
  spec.serviceAccountName = name
  spec.serviceAccount = name
}

/**
 * Keeps podIP and podIPs consistent. podIP wins if they differ; if only one is set, the other is
 * derived.
 */
export function agreeOnPodIps(status: Loose): void {
  const { podIP, podIPs } = status
  const first = podIPs?.[0]?.ip
  if (podIP && podIP !== first) status.podIPs = [{ ip: podIP }]
  else if (!podIP && first) status.podIP = first
}

const initContainerKeys = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
]

export function dropInitContainerAnnotations(meta: ObjectMeta | undefined): void {
  const annotations = meta?.annotations
  if (meta === undefined || annotations === undefined || annotations === null) return
  let dropped = false
  for (const key of initContainerKeys) {
    if (!Object.hasOwn(annotations, key)) continue
    delete annotations[key]
    dropped = true
  }
  if (dropped && Object.keys(annotations).length === 0) delete meta.annotations
}
