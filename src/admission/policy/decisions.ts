/**
 * Authorization checks for the CEL variable `authorizer`. Each check runs once per request and is
 * shared by all policies. If a check is asynchronous, the evaluation stops, waits for the result,
 * and starts again.
 */
import type { Attributes, Authorizer, Decision } from '#access/authorize.ts'
import { selectorsOfTexts } from '#access/selectors.ts'
import { serviceAccountGroups, serviceAccountUserName } from '#access/service-account-name.ts'
import type { User } from '#access/user.ts'
import type { Awaitable } from '#base/awaitable.ts'
import {
  type AccessCheck,
  type AccessDecision,
  type AccessDecisions,
  PendingDecision,
} from '#cel/functions/authorizer.ts'

export class RequestDecisions implements AccessDecisions {
  readonly #authorizer: Authorizer
  readonly #user: User
  readonly #known = new Map<string, AccessDecision>()
  readonly #pending = new Map<string, Promise<void>>()

  constructor(authorizer: Authorizer, user: User) {
    this.#authorizer = authorizer
    this.#user = user
  }

  find(check: AccessCheck): AccessDecision | undefined {
    const key = JSON.stringify(check)
    const known = this.#known.get(key)
    if (known !== undefined || this.#pending.has(key)) return known
    const decision = this.#authorizer.authorize(attributesOf(check, this.#user))
    if (!(decision instanceof Promise)) return this.#keep(key, decision)
    const kept = decision.then((made) => {
      this.#keep(key, made)
    })
    this.#pending.set(key, kept)
    return undefined
  }

  /** Repeats an evaluation each time it needed an asynchronous decision. */
  during<Result>(evaluate: () => Awaitable<Result>): Awaitable<Result> {
    const again = (error: unknown): Promise<Result> => {
      if (!(error instanceof PendingDecision)) throw error
      return this.#afterPending(evaluate)
    }
    try {
      const result = evaluate()
      return result instanceof Promise ? result.catch(again) : result
    } catch (error) {
      return again(error)
    }
  }

  async #afterPending<Result>(evaluate: () => Awaitable<Result>): Promise<Result> {
    await Promise.all(this.#pending.values())
    this.#pending.clear()
    return this.during(evaluate)
  }

  #keep(key: string, { decision, reason, error }: Decision): AccessDecision {
    const allowed = decision === 'allow'
    const known = { allowed, reason, ...(error !== undefined && { error }) }
    this.#known.set(key, known)
    return known
  }
}

function attributesOf(check: AccessCheck, user: User): Attributes {
  const { serviceAccount, path, fieldSelector, labelSelector, ...rest } = check
  return {
    ...rest,
    user: serviceAccount === undefined ? user : accountUser(serviceAccount),
    isResource: path === undefined,
    version: path === undefined ? '*' : '',
    path: path ?? '',
    selectors: selectorsOfTexts(fieldSelector, labelSelector),
  }
}

const accountUser = ({ namespace, name }: { namespace: string; name: string }): User => ({
  name: serviceAccountUserName(namespace, name),
  uid: '',
  groups: serviceAccountGroups(namespace),
  extra: {},
})
