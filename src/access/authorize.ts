/**
 * The interface of authorization modes: request attributes in, decision out. Modes are called in
 * order, and the first that allows or denies decides.
 */
import type { Selectors } from './selectors.ts'
import type { User } from './user.ts'

export interface Attributes {
  readonly user: User
  /**
   * get list watch create update patch delete deletecollection proxy impersonate …; for
   * non-resource paths the lower-case HTTP method.
   */
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The path of a non-resource request. */
  readonly path: string
  /** The selectors of a list, a watch or a deletecollection, in releases that authorize them. */
  readonly selectors?: Selectors | undefined
}

export interface Decision {
  readonly decision: 'allow' | 'deny' | 'none'
  readonly reason: string
  /**
   * The error that prevented a decision. Unless another mode allows the request, the response is an
   * internal error.
   */
  readonly error?: string
}

export interface Authorizer {
  readonly name: string
  authorize(attributes: Attributes): Decision | Promise<Decision>
}

/** A resource rule of a SelfSubjectRulesReview. */
export interface ResourceRule {
  verbs: readonly string[]
  apiGroups?: readonly string[]
  resources?: readonly string[]
  resourceNames?: readonly string[]
}

/** A non-resource rule of a SelfSubjectRulesReview. */
export interface NonResourceRule {
  verbs: readonly string[]
  nonResourceURLs?: readonly string[]
}

export interface Rules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** The list may lack rules that an authorizer cannot enumerate. */
  readonly incomplete: boolean
  readonly errors: readonly string[]
}

/** Authorizers that can list a user's permissions in a namespace. */
export interface RuleResolver {
  rulesFor(user: User, namespace: string): Rules
}

export const noOpinion: Decision = { decision: 'none', reason: '' }
export const allowed: Decision = { decision: 'allow', reason: '' }
