/**
 * The secrets and config maps to which a pod or a persistent volume refers, anywhere in its spec.
 * It reads no objects.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'

/** Volume sources that refer to a secret, with a function that returns its name. */
const secretOfSource: readonly (readonly [string, (source: Loose) => unknown])[] = [
  ['azureFile', (source) => source.secretName],
  ['cephfs', (source) => source.secretRef?.name],
  ['cinder', (source) => source.secretRef?.name],
  ['flexVolume', (source) => source.secretRef?.name],
  ['rbd', (source) => source.secretRef?.name],
  ['secret', (source) => source.secretName],
  ['scaleIO', (source) => source.secretRef?.name],
  ['iscsi', (source) => source.secretRef?.name],
  ['storageos', (source) => source.secretRef?.name],
  ['csi', (source) => source.nodePublishSecretRef?.name],
]

const named = (names: unknown[]): Set<string> =>
  new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''))

const containers = ({ spec }: KubeObject): Loose[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]

export function podSecretNames(pod: KubeObject): Set<string> {
  const names: unknown[] = (pod.spec?.imagePullSecrets ?? []).map(({ name }: Loose) => name)
  for (const { envFrom = [], env = [] } of containers(pod)) {
    for (const { secretRef } of envFrom as Loose[]) names.push(secretRef?.name)
    for (const { valueFrom } of env as Loose[]) names.push(valueFrom?.secretKeyRef?.name)
  }
  for (const volume of (pod.spec?.volumes ?? []) as Loose[]) {
    for (const [field, secret] of secretOfSource)
      if (volume[field] != null) names.push(secret(volume[field]))
    for (const source of (volume.projected?.sources ?? []) as Loose[])
      names.push(source.secret?.name)
  }
  return named(names)
}

export function podConfigMapNames(pod: KubeObject): Set<string> {
  const names: unknown[] = []
  for (const { envFrom = [], env = [] } of containers(pod)) {
    for (const { configMapRef } of envFrom as Loose[]) names.push(configMapRef?.name)
    for (const { valueFrom } of env as Loose[]) names.push(valueFrom?.configMapKeyRef?.name)
  }
  for (const volume of (pod.spec?.volumes ?? []) as Loose[]) {
    names.push(volume.configMap?.name)
    for (const source of (volume.projected?.sources ?? []) as Loose[])
      names.push(source.configMap?.name)
  }
  return named(names)
}

/** The secrets of a persistent volume that a kubelet needs. Secrets for controllers are omitted. */
export function volumeSecrets({ spec = {} }: KubeObject): { namespace: string; name: string }[] {
  const home: string = spec.claimRef?.namespace ?? ''
  const found: { namespace: string; name: string }[] = []
  const add = (name: unknown, namespace: unknown) => {
    if (typeof name === 'string' && name !== '')
      found.push({ name, namespace: typeof namespace === 'string' ? namespace : '' })
  }
  add(spec.azureFile?.secretName, spec.azureFile?.secretNamespace || home)
  for (const source of ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi'])
    add(spec[source]?.secretRef?.name, spec[source]?.secretRef?.namespace || home)
  for (const reference of [
    spec.cinder?.secretRef,
    spec.storageos?.secretRef,
    spec.csi?.nodePublishSecretRef,
    spec.csi?.nodeStageSecretRef,
  ])
    add(reference?.name, reference?.namespace)
  return found
}
