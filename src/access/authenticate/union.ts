/**
 * Combines authentication methods. Each is called in turn, and the first that recognises the user
 * decides. A recognised user joins system:authenticated. Rejected credentials are rejected even if
 * anonymous requests are allowed, because a wrong password must not become an anonymous user.
 * Asynchronous only if a method is.
 */
import { after } from '#base/awaitable.ts'
import type {
  AuditAnnotations,
  Authenticator,
  Credentials,
  TokenAuthenticator,
  AuthenticationResult,
} from '#access/authenticate.ts'
import { joinErrors } from '#access/error-list.ts'
import { allAuthenticated, allUnauthenticated, anonymous, type User } from '#access/user.ts'

/**
 * The first success. Otherwise all rejections combined, or undefined if no method recognised the
 * credentials.
 */
function firstSuccess<T>(
  methods: readonly T[],
  ask: (method: T) => AuthenticationResult | Promise<AuthenticationResult>,
): AuthenticationResult | Promise<AuthenticationResult> {
  let refusals: Refused[] | undefined
  for (let i = 0; i < methods.length; i++) {
    const verdict = askSafely(ask, methods[i] as T)
    if (verdict === undefined) continue
    if (verdict instanceof Promise) return waitForSuccess(methods, ask, i, verdict, refusals ?? [])
    if ('user' in verdict) return verdict
    refusals ??= []
    refusals.push(verdict)
  }
  return refusals && combine(refusals)
}

/** Continues from the first asynchronous method on. */
async function waitForSuccess<T>(
  methods: readonly T[],
  ask: (method: T) => AuthenticationResult | Promise<AuthenticationResult>,
  at: number,
  pending: Promise<AuthenticationResult>,
  refusals: Refused[],
): Promise<AuthenticationResult> {
  for (let i = at; i < methods.length; i++) {
    const verdict = await settledSafely(i === at ? pending : askSafely(ask, methods[i] as T))
    if (verdict === undefined) continue
    if ('user' in verdict) return verdict
    refusals.push(verdict)
  }
  return refusals.length === 0 ? undefined : combine(refusals)
}

type Refused = { refused: string; annotations?: AuditAnnotations }

function combine(refusals: readonly Refused[]): Refused {
  const refused = joinErrors(refusals.map((one) => one.refused))
  const noted = refusals.filter((one) => one.annotations !== undefined)
  if (noted.length === 0) return { refused }
  return { refused, annotations: Object.assign({}, ...noted.map((one) => one.annotations)) }
}

/**
 * A method that throws counts as a rejection, so that later methods can still recognise the user.
 */
function askSafely<T>(
  ask: (method: T) => AuthenticationResult | Promise<AuthenticationResult>,
  method: T,
): AuthenticationResult | Promise<AuthenticationResult> {
  try {
    return ask(method)
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

/** The same for a method whose promise rejects. */
async function settledSafely(
  verdict: AuthenticationResult | Promise<AuthenticationResult>,
): Promise<AuthenticationResult> {
  try {
    return await verdict
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

export class TokenUnion implements TokenAuthenticator {
  readonly name = 'tokens'
  readonly #methods: readonly TokenAuthenticator[]

  constructor(methods: readonly TokenAuthenticator[]) {
    this.#methods = methods
  }

  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult> {
    return firstSuccess(this.#methods, (method) => method.authenticateToken(token, audiences))
  }
}

/** Adds this server's audiences to the results of a method that does not support audiences. */
export class AudienceAgnostic implements TokenAuthenticator {
  readonly name: string
  readonly #method: TokenAuthenticator
  readonly #own: readonly string[]

  constructor(method: TokenAuthenticator, own: readonly string[]) {
    this.name = method.name
    this.#method = method
    this.#own = own
  }

  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticationResult | Promise<AuthenticationResult> {
    if (audiences.length === 0) return this.#method.authenticateToken(token, audiences)
    const matching = audiences.filter((one) => this.#own.includes(one))
    if (matching.length === 0) return undefined
    return after(this.#method.authenticateToken(token, audiences), (verdict) =>
      verdict !== undefined && 'user' in verdict ? { ...verdict, audiences: matching } : verdict,
    )
  }
}

export class RequestAuthenticator implements Authenticator {
  readonly name = 'request'
  readonly #methods: readonly Authenticator[]
  readonly #mayBeAnonymous: (path: string) => boolean
  readonly #members = new WeakMap<User, User>()

  constructor(methods: readonly Authenticator[], mayBeAnonymous: (path: string) => boolean) {
    this.#methods = methods
    this.#mayBeAnonymous = mayBeAnonymous
  }

  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult> {
    const verdict = firstSuccess(this.#methods, (method) => method.authenticate(credentials))
    return after(verdict, (settled) => this.#finish(settled, credentials))
  }

  #finish(verdict: AuthenticationResult, { path }: Credentials): AuthenticationResult {
    if (verdict === undefined)
      return this.#mayBeAnonymous(path ?? '') ? { user: anonymous } : undefined
    if (!('user' in verdict)) return verdict
    const user = this.member(verdict.user)
    return user === verdict.user ? verdict : { ...verdict, user }
  }

  /**
   * Adds system:authenticated to the user's groups. Returns the same object for the same user
   * object.
   */
  member(user: User): User {
    const { name, groups } = user
    if (name === anonymous.name) return user
    if (groups.includes(allAuthenticated) || groups.includes(allUnauthenticated)) return user
    let member = this.#members.get(user)
    if (member === undefined) {
      member = { ...user, groups: [...groups, allAuthenticated] }
      this.#members.set(user, member)
    }
    return member
  }
}
