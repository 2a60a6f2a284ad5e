/** The dependencies of connections to the cluster. */
import type { AdmissionChain } from '#admission/chain.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { KubeletSettings } from './kubelet.ts'
import type { IsIdentityHeader } from './passed-headers.ts'

export interface ConnectParts {
  readonly reader: ObjectReader
  readonly admission: AdmissionChain
  readonly kubelet: KubeletSettings
  /** Whether the proxy subresources may call this machine: for tests only. */
  readonly proxyLoopbackAllowed: boolean
  readonly isIdentityHeader: IsIdentityHeader
  readonly stopping: AbortSignal
  readonly random: () => number
  /** The User-Agent of this server. */
  readonly userAgent: string
}
