/** What connections to the cluster are made of. */
import type { AdmissionChain } from '#admission/chain.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { KubeletSettings } from './kubelet.ts'
import type { IsIdentityHeader } from './passed-headers.ts'

export interface ConnectParts {
  readonly reader: ObjectReader
  readonly admission: AdmissionChain
  readonly kubelet: KubeletSettings
  /**
   * Whether the proxy subresources may lead to this machine itself: for tests, never for a server
   * that others use.
   */
  readonly proxyLoopbackAllowed: boolean
  readonly isIdentityHeader: IsIdentityHeader
  readonly stopping: AbortSignal
  readonly random: () => number
  /** How this server calls itself. */
  readonly userAgent: string
}
