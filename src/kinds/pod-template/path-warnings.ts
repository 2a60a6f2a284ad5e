/**
 * Warnings about files of one volume with equal paths, or where one path is a directory of another.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'

interface File {
  readonly path: string
  readonly source: string
}

export function pathWarnings(spec: Loose): string[] {
  return ((spec.volumes ?? []) as Loose[]).flatMap((volume) => {
    const name = goQuote(volume.name ?? '')
    const { configMap, secret, downwardAPI, projected } = volume
    const about = (what: string, files: readonly File[]) =>
      overlapsOf([files]).map(
        (overlap) => `volume ${name} (${what}): overlapping paths: ${overlap}`,
      )
    return [
      ...(configMap
        ? about(`ConfigMap ${goQuote(configMap.name ?? '')}`, filesOf(configMap.items, ''))
        : []),
      ...(secret
        ? about(`Secret ${goQuote(secret.secretName ?? '')}`, filesOf(secret.items, ''))
        : []),
      ...(downwardAPI ? about('DownwardAPI', filesOf(downwardAPI.items, '')) : []),
      ...(projected ? projectedWarnings(projected.sources ?? [], name) : []),
    ]
  })
}

const filesOf = (items: Loose[] | null | undefined, source: string): File[] =>
  (items ?? []).map(({ path = '' }) => ({ path, source }))

function projectedWarnings(sources: Loose[], name: string): string[] {
  const before: File[] = []
  return sources.flatMap((source) => {
    if (Object.keys(source).length === 0) {
      return [`volume ${name} (Projected) has no sources provided`]
    }
    const files = projectedFiles(source)
    const overlaps = overlapsOf([before, files])
    before.push(...files)
    return overlaps.map((overlap) => `volume ${name} (Projected): overlapping paths: ${overlap}`)
  })
}

function projectedFiles(projection: Loose): File[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = projection
  if (configMap?.items)
    return filesOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`)
  if (secret?.items) return filesOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`)
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI')
  if (serviceAccountToken) return filesOf([serviceAccountToken], 'ServiceAccountToken')
  if (clusterTrustBundle) {
    const name: string = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? ''
    return filesOf([clusterTrustBundle], `ClusterTrustBundle ${goQuote(name)}`)
  }
  const certificate: Loose = projection.podCertificate ?? {}
  const parts = [
    ['certificateChainPath', 'PodCertificate chain'],
    ['keyPath', 'PodCertificate key'],
    ['credentialBundlePath', 'PodCertificate credential bundle'],
  ] as const
  return parts.flatMap(([field, source]) =>
    certificate[field] ? [{ path: certificate[field], source }] : [],
  )
}

const shownFile = ({ path, source }: File): string =>
  source === '' ? goQuote(path) : `${goQuote(path)} (${source})`

/** Conflicts of the files of the last list with each other and with those of earlier lists. */
function overlapsOf(lists: readonly (readonly File[])[]): string[] {
  const files = lists.at(-1) as readonly File[]
  const seen: File[] = lists.slice(0, -1).flat().map(trimmed)
  return files.map(trimmed).flatMap((file) => {
    const overlaps = file.path === '' ? [] : seen.filter((other) => isOverlap(file, other))
    seen.push(file)
    return overlaps.map((other) => `${shownFile(file)} with ${shownFile(other)}`)
  })
}

const trimmed = ({ path, source }: File): File => ({ path: path.replace(/\/+$/, ''), source })

const isOverlap = (file: File, other: File): boolean =>
  other.path !== '' &&
  (`${other.path}/`.startsWith(`${file.path}/`) || `${file.path}/`.startsWith(`${other.path}/`))
