/** The names of the Secrets that a pod refers to: in its containers, volumes and pull secrets. */
import type { KubeObject, Loose } from '#api/object-meta.ts'

export function secretNamesOf({ spec = {} }: KubeObject): string[] {
  const lists = [spec.initContainers, spec.containers, spec.ephemeralContainers]
  const containers: Loose[] = lists.flatMap((list) => list ?? [])
  const names: (string | undefined)[] = [
    ...nameEach(spec.imagePullSecrets),
    ...containers.flatMap(ofContainer),
    ...((spec.volumes ?? []) as Loose[]).flatMap(ofVolume),
  ]
  return names.filter((name) => name !== undefined && name !== '') as string[]
}

const nameEach = (references: Loose[] | undefined): string[] =>
  (references ?? []).map(({ name }) => name)

const ofContainer = ({ env = [], envFrom = [] }: Loose): (string | undefined)[] => [
  ...envFrom.map(({ secretRef }: Loose) => secretRef?.name),
  ...env.map(({ valueFrom }: Loose) => valueFrom?.secretKeyRef?.name),
]

const ofVolume = (volume: Loose): (string | undefined)[] => [
  volume.secret?.secretName,
  volume.azureFile?.secretName,
  volume.csi?.nodePublishSecretRef?.name,
  ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map(
    (source) => volume[source]?.secretRef?.name,
  ),
  ...(volume.projected?.sources ?? []).map(({ secret }: Loose) => secret?.name),
]
