/** The contract of authorisation: attributes of a request in, a decision out. Modes are asked in order; the first opinion counts. */
import type { User } from './user.ts'

export interface Attributes {
  readonly user: User
  /** get list watch create update patch delete deletecollection proxy impersonate … ; for other URLs the lower-case HTTP method. */
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The path, for URLs that are no resource. */
  readonly path: string
}

export interface Decision {
  readonly decision: 'allow' | 'deny' | 'none'
  readonly reason: string
}

export interface Authorizer {
  readonly name: string
  authorize(attributes: Attributes): Decision | Promise<Decision>
}
