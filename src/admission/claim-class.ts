/** The storage class of a claim: the older annotation takes precedence over the field. */
import type { KubeObject } from '#api/object-meta.ts'

export const classOfClaim = ({ metadata, spec }: KubeObject): string =>
  metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? ''
