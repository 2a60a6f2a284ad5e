/**
 * Makes tokens of service accounts: those kept in Secrets, which name their secret and never
 * expire, and bound ones, which are for an audience, for a time, and as long as a pod, secret or
 * node lives. The claims are those of kube-apiserver.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { serviceAccountUserName } from '#access/service-account-name.ts'
import { signToken } from './json-web-token.ts'
import type { SigningKey } from './key-files.ts'

/** The issuer of tokens in Secrets, whatever the server is called. */
export const legacyIssuer = 'kubernetes/serviceaccount'

/** What the claims of a token in a Secret are called. */
export const legacyClaims = {
  namespace: 'kubernetes.io/serviceaccount/namespace',
  secretName: 'kubernetes.io/serviceaccount/secret.name',
  accountName: 'kubernetes.io/serviceaccount/service-account.name',
  accountUid: 'kubernetes.io/serviceaccount/service-account.uid',
} as const

/**
 * The lifetime that pods request by default; a token for it may live longer, and is only reported
 * as stale.
 */
export const warnOnlySeconds = 60 * 60 + 7
/** How much longer. */
export const extendedSeconds = 365 * 24 * 60 * 60

export interface BoundTokenRequest {
  readonly account: KubeObject
  readonly pod?: KubeObject
  readonly secret?: KubeObject
  /** The node that the token is bound to, or that its pod is on. */
  readonly node?: KubeObject
  /** The token's unique identifier, in releases that give tokens one. */
  readonly id?: string | undefined
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /** Seconds after which its use is reported; 0 for never. */
  readonly warnAfterSeconds: number
}

export class TokenMint {
  readonly #issuer: string
  readonly #key: SigningKey

  constructor(issuer: string, key: SigningKey) {
    this.#issuer = issuer
    this.#key = key
  }

  /** The token of a Secret of type kubernetes.io/service-account-token. */
  forSecret(account: KubeObject, secretName: string): string {
    const { namespace = '', name = '', uid = '' } = account.metadata
    return this.#sign({
      iss: legacyIssuer,
      [legacyClaims.namespace]: namespace,
      [legacyClaims.secretName]: secretName,
      [legacyClaims.accountName]: name,
      [legacyClaims.accountUid]: uid,
      sub: serviceAccountUserName(namespace, name),
    })
  }

  /** `now`: milliseconds. */
  bound(request: BoundTokenRequest, now: number): string {
    const { account, pod, secret, node, id, audiences } = request
    const { expirationSeconds, warnAfterSeconds } = request
    const { namespace = '', name = '' } = account.metadata
    const seconds = Math.floor(now / 1000)
    const reference = (object: KubeObject): Loose => ({
      ...(object.metadata.name && { name: object.metadata.name }),
      ...(object.metadata.uid && { uid: object.metadata.uid }),
    })
    return this.#sign({
      ...(audiences.length > 0 && { aud: audiences }),
      exp: seconds + expirationSeconds,
      iat: seconds,
      iss: this.#issuer,
      ...(id !== undefined && { jti: id }),
      'kubernetes.io': {
        namespace,
        ...(node !== undefined && { node: reference(node) }),
        ...(pod !== undefined && { pod: reference(pod) }),
        ...(pod === undefined && secret !== undefined && { secret: reference(secret) }),
        serviceaccount: reference(account),
        ...(warnAfterSeconds !== 0 && { warnafter: seconds + warnAfterSeconds }),
      },
      nbf: seconds,
      sub: serviceAccountUserName(namespace, name),
    })
  }

  #sign(claims: Loose): string {
    return signToken(claims, this.#key.privateKey, this.#key)
  }
}
