/** The dependencies of connections to the cluster. */
import type { Authorizer } from '#access/authorize.ts'
import type { AdmissionChain } from '#admission/chain.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { KubeletSettings } from './kubelet.ts'
import type { IsIdentityHeader } from './passed-headers.ts'

export interface ConnectParts {
  readonly reader: ObjectReader
  readonly admission: AdmissionChain
  /** Authorizes `create` for streams by GET; undefined where `get` is enough. */
  readonly createAuthorizer?: Authorizer | undefined
  readonly kubelet: KubeletSettings
  /** Whether the proxy subresources may call this machine: for tests only. */
  readonly proxyLoopbackAllowed: boolean
  readonly isIdentityHeader: IsIdentityHeader
  readonly stopping: AbortSignal
  readonly random: () => number
  /** The User-Agent of this server. */
  readonly userAgent: string
}
