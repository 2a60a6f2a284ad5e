/**
 * Issues service account tokens with the claims of kube-apiserver. Legacy tokens are kept in a
 * Secret, name that Secret and never expire. Bound tokens have an audience and an expiration, and
 * are valid only while the bound Pod, Secret or Node exists.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { serviceAccountUserName } from '#access/service-account-name.ts'
import { signToken } from './json-web-token.ts'
import type { SigningKey } from './key-files.ts'

/** The issuer of legacy tokens. It does not depend on `--service-account-issuer`. */
export const legacyIssuer = 'kubernetes/serviceaccount'

/** Claim names of legacy tokens. */
export const legacyClaims = {
  namespace: 'kubernetes.io/serviceaccount/namespace',
  secretName: 'kubernetes.io/serviceaccount/secret.name',
  accountName: 'kubernetes.io/serviceaccount/service-account.name',
  accountUid: 'kubernetes.io/serviceaccount/service-account.uid',
} as const

/**
 * The lifetime that pods request by default. Tokens with this lifetime are valid for longer, and
 * the server only warns about late use.
 */
export const warnOnlySeconds = 60 * 60 + 7
/** Seconds that extended tokens are valid. */
export const extendedSeconds = 365 * 24 * 60 * 60

export interface BoundTokenRequest {
  readonly account: KubeObject
  readonly pod?: KubeObject
  readonly secret?: KubeObject
  /** The bound node, or the node of the bound pod. */
  readonly node?: KubeObject
  /** The `jti` claim, in releases that have it. */
  readonly id?: string | undefined
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /** After this many seconds the server reports each use as stale; 0 means never. */
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

  /** `now` is in milliseconds. */
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
