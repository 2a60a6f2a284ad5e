/**
 * Checks that the objects a token is bound to still exist: the service account and the secret, pod
 * or node. A result stays valid until the watch cache reports a change of one of them, or until the
 * grace period of a deletion ends.
 */
import { timingSafeEqual } from 'node:crypto'
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AccountClaims } from './service-account-claims.ts'

/**
 * Leeway after an object's deletion during which the token is still valid, because clocks can
 * differ.
 */
export const leewayMs = 60_000

/** The Secret of a legacy token. */
export interface TokenSecret {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The day of the last use, from the label. */
  readonly lastUsed: string | undefined
  readonly isGenerated: boolean
  /** The token cleaner labelled the Secret, so that its token is rejected. */
  readonly isInvalid: boolean
}

/**
 * If there is no problem, `until` (in milliseconds) is how long the result stays valid without
 * changes of objects.
 */
export type LookupResult = { secret?: TokenSecret } & (
  | { problem: string }
  | { problem: undefined; until: number }
)

type Plural = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes'

export interface TokenRelease {
  readonly release: Release
  readonly feature: (gate: string) => boolean
}

/** A subscriber to changes of an object. */
export interface Dependent {
  changed(): void
}

export class AccountLookup {
  readonly #reader: ObjectReader
  readonly #dependents = new Map<string, Set<Dependent>>()
  readonly #following = new Map<Plural, Promise<() => void>>()
  readonly #ready = new Set<Plural>()

  readonly #release: Release
  readonly #bindsNodes: boolean

  constructor(reader: ObjectReader, { release, feature }: TokenRelease) {
    this.#reader = reader
    this.#release = release
    this.#bindsNodes = feature('ServiceAccountTokenNodeBindingValidation')
  }

  /**
   * Whether the watch cache reports changes of all objects that the token depends on. Starts
   * watches for resources that are not watched yet.
   */
  covers(claims: AccountClaims): boolean {
    const needed = keysOf(claims)
    for (const [plural] of needed) this.#follow(plural)
    return needed.every(([plural]) => this.#ready.has(plural))
  }

  async ready(claims: AccountClaims): Promise<void> {
    await Promise.all(keysOf(claims).map(([plural]) => this.#follow(plural)))
  }

  watch(claims: AccountClaims, dependent: Dependent): void {
    for (const [, key] of keysOf(claims)) {
      const set = this.#dependents.get(key)
      if (set === undefined) this.#dependents.set(key, new Set([dependent]))
      else set.add(dependent)
    }
  }

  forget(claims: AccountClaims, dependent: Dependent): void {
    for (const [, key] of keysOf(claims)) {
      const set = this.#dependents.get(key)
      set?.delete(dependent)
      if (set?.size === 0) this.#dependents.delete(key)
    }
  }

  async check(token: string, claims: AccountClaims, now: number): Promise<LookupResult> {
    return claims.legacy ? this.#checkLegacy(token, claims) : this.#checkBound(claims, now)
  }

  stop(): void {
    for (const following of this.#following.values())
      following.then(
        (end) => end(),
        () => {},
      )
    this.#following.clear()
    this.#ready.clear()
  }

  async #checkLegacy(token: string, claims: AccountClaims): Promise<LookupResult> {
    const { namespace, account, secret } = claims
    const kept = await this.#reader.get('', 'secrets', namespace, secret?.name ?? '')
    if (kept === undefined || kept.metadata.deletionTimestamp != null)
      return { problem: 'Token has been invalidated' }
    if (!sameBytes(kept.data?.token, token))
      return { problem: "Token does not match server's copy" }
    const found = await this.#reader.get('', 'serviceaccounts', namespace, account.name)
    if (found === undefined) return { problem: accountNotFound(account.name) }
    if (found.metadata.deletionTimestamp != null)
      return { problem: `ServiceAccount ${namespace}/${account.name} has been deleted` }
    const problem = uidProblem('ServiceAccount', found, account.uid)
    if (problem !== undefined) return problem
    const labels = kept.metadata.labels ?? {}
    const isInvalid = Boolean(labels[invalidSince]) && this.#release.has(endsUnusedTokens)
    const { name = '', uid = '' } = kept.metadata
    const isGenerated = (found['secrets'] ?? []).some((one: { name?: string }) => one.name === name)
    const used = { namespace, name, uid, lastUsed: labels[lastUsedLabel], isGenerated, isInvalid }
    return isInvalid
      ? { problem: markedInvalid(namespace, name, account.name), secret: used }
      : { ...forever, secret: used }
  }

  async #checkBound(claims: AccountClaims, now: number): Promise<LookupResult> {
    const { namespace, account, secret, pod, node } = claims
    const words = boundWords(this.#release)
    const get = (plural: Plural, name: string) =>
      this.#reader.get('', plural, plural === 'nodes' ? '' : namespace, name)
    const found = await get('serviceaccounts', account.name)
    if (found === undefined) return { problem: accountNotFound(account.name) }
    let until = endOf(found)
    if (until < now)
      return { problem: `${words.account} ${namespace}/${account.name} has been deleted` }
    const wrong = uidProblem(words.account, found, account.uid)
    if (wrong !== undefined) return wrong
    const isOfNode = pod === undefined && node !== undefined
    if (isOfNode && !this.#bindsNodes)
      return {
        problem:
          'token is bound to a Node object but the ServiceAccountTokenNodeBindingValidation feature gate is disabled',
      }
    const bound = [
      [words.secret, 'secrets', secret, words.secretClaim],
      [words.pod, 'pods', pod, words.podClaim],
      ['node', 'nodes', isOfNode ? node : undefined, 'service account node ref claim'],
    ] as const
    for (const [kind, plural, reference, claim] of bound) {
      if (reference === undefined) continue
      const object = await get(plural, reference.name)
      if (object === undefined || endOf(object) < now) return { problem: words.invalidated }
      const other = uidProblem(kind, object, reference.uid, claim)
      if (other !== undefined) return other
      until = Math.min(until, endOf(object))
    }
    return { problem: undefined, until }
  }

  #follow(plural: Plural): Promise<() => void> {
    let following = this.#following.get(plural)
    if (following === undefined) {
      const tell = ({ metadata }: KubeObject) => {
        const set = this.#dependents.get(`${plural}/${metadata.namespace}/${metadata.name}`)
        if (set !== undefined) for (const dependent of [...set]) dependent.changed()
      }
      following = this.#reader.follow('', plural, { changed: tell, deleted: tell })
      this.#following.set(plural, following)
      following.then(
        () => this.#ready.add(plural),
        () => this.#following.delete(plural),
      )
    }
    return following
  }
}

/** The day of the last use of a legacy token, a label of its Secret. */
export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'

/** The token cleaner labels Secrets whose tokens it found unused. */
const invalidSince = 'kubernetes.io/legacy-token-invalid-since'
const endsUnusedTokens = change('a label of its Secret ends a legacy token', { since: 29 })
const markedInvalid = (namespace: string, secret: string, account: string): string =>
  `the token in secret ${namespace}/${secret} for service account ${namespace}/${account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSince}' label from the secret to temporarily allow use of this token`

const forever = { problem: undefined, until: Number.POSITIVE_INFINITY } as const

function keysOf({ namespace, account, secret, pod, node }: AccountClaims): [Plural, string][] {
  const key = (plural: Plural, name: string): [Plural, string] => [
    plural,
    `${plural}/${namespace}/${name}`,
  ]
  return [
    key('serviceaccounts', account.name),
    ...(secret === undefined ? [] : [key('secrets', secret.name)]),
    ...(pod === undefined ? [] : [key('pods', pod.name)]),
    ...(pod !== undefined || node === undefined ? [] : [nodeKey(node.name)]),
  ]
}

/** Nodes have no namespace. */
const nodeKey = (name: string): [Plural, string] => ['nodes', `nodes/undefined/${name}`]

const accountNotFound = (name: string) => `serviceaccounts "${name}" not found`

/** The time from which a deleted object is treated as missing. */
function endOf({ metadata: { deletionTimestamp } }: KubeObject): number {
  if (deletionTimestamp == null) return Number.POSITIVE_INFINITY
  return Date.parse(deletionTimestamp) + leewayMs
}

function uidProblem(kind: string, object: KubeObject, claimed: string, claim = 'claim') {
  const { uid = '' } = object.metadata
  if (uid === claimed) return undefined
  return { problem: `${kind} UID (${uid}) does not match ${claim} (${claimed})` }
}

const sentencesOfTokens = change('problems of service account tokens are lower-case sentences', {
  since: 23,
})

/** The error words for bound tokens. */
const boundWords = (release: Release) =>
  release.has(sentencesOfTokens)
    ? {
        account: 'service account',
        secret: 'secret',
        secretClaim: 'service account secret ref claim',
        pod: 'pod',
        podClaim: 'service account pod ref claim',
        invalidated: 'service account token has been invalidated',
      }
    : {
        account: 'ServiceAccount',
        secret: 'Secret',
        secretClaim: 'claim',
        pod: 'Pod',
        podClaim: 'claim',
        invalidated: 'Token has been invalidated',
      }

/** The error words for the time of a bound token. */
export const timeWords = (release: Release) =>
  release.has(sentencesOfTokens)
    ? {
        early: 'service account token is not valid yet',
        late: 'service account token has expired',
      }
    : { early: 'Token could not be validated.', late: 'Token has expired.' }

function sameBytes(kept: unknown, token: string): boolean {
  if (typeof kept !== 'string') return false
  const a = Buffer.from(kept, 'base64')
  const b = Buffer.from(token)
  return a.length === b.length && timingSafeEqual(a, b)
}
