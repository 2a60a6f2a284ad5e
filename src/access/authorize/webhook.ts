/**
 * The Webhook mode: a remote service decides about a SubjectAccessReview. Results are cached,
 * allowed ones for longer. If the call fails, the result is "no opinion" with the failure as its
 * error; with `failurePolicy: Deny` the request is denied. The service is called only for requests
 * that meet all match conditions.
 */
import type { Clock } from '#base/clock.ts'
import type { Loose } from '#api/object-meta.ts'
import type { AccessExpression } from '#access/access-expression.ts'
import {
  type Attributes,
  type Authorizer,
  type Decision,
  noOpinion,
  type RuleResolver,
  type Rules,
} from '#access/authorize.ts'
import { joinErrors } from '#access/error-list.ts'
import { ExpiringCache } from '#access/expiring-cache.ts'
import type { ReviewWebhook } from '#access/review-webhook.ts'
import { isError } from '#cel/values.ts'
import { selectorsForReview } from '#access/selectors.ts'

/** Measures the match conditions of authorization webhooks, by the name of the authorizer. */
export interface ConditionMeter {
  readonly monotonicMs: () => number
  /**
   * `failed`: a condition could not be evaluated. `excludes`: a condition is false, so that the
   * webhook is not called.
   */
  evaluated(authorizer: string, tookMs: number, failed: boolean, excludes: boolean): void
}

export interface WebhookAuthorizerSettings {
  readonly version: 'v1' | 'v1beta1'
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly deniesOnFailure?: boolean
  readonly conditions?: readonly AccessExpression[]
  /** The name of the authorizer in metrics, and what records them. */
  readonly measured?: { readonly name: string; readonly meter: ConditionMeter }
}

/** Number of cached responses. */
const cacheSizeMax = 8192
/**
 * Limit of the request's own text in a cache key, in characters. Results for larger requests are
 * not cached.
 */
const requestTextMax = 10_000

const unknownRules: Rules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  errors: ['webhook authorizer does not support user rule resolution'],
}

export class WebhookAuthorizer implements Authorizer, RuleResolver {
  readonly name = 'Webhook'
  readonly #webhook: ReviewWebhook
  readonly #settings: WebhookAuthorizerSettings
  readonly #cache: ExpiringCache<Decision>

  constructor(webhook: ReviewWebhook, settings: WebhookAuthorizerSettings, clock: Clock) {
    this.#webhook = webhook
    this.#settings = settings
    this.#cache = new ExpiringCache(cacheSizeMax, clock)
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const { version, conditions = [] } = this.#settings
    const met = conditions.length === 0 || this.#meetsAll(conditions, attributes)
    if (met === false) return noOpinion
    if (met !== true) return this.#failed(met)
    const spec = specOf(attributes, version)
    const key = JSON.stringify(spec)
    return this.#cache.get(key) ?? this.#ask(attributes, spec, key)
  }

  rulesFor(): Rules {
    return unknownRules
  }

  #meetsAll(conditions: readonly AccessExpression[], attributes: Attributes): boolean | string {
    const { measured } = this.#settings
    if (measured === undefined) return meetsAll(conditions, attributes).met
    const { name, meter } = measured
    const began = meter.monotonicMs()
    const { met, failed } = meetsAll(conditions, attributes)
    meter.evaluated(name, meter.monotonicMs() - began, failed, met === false)
    return met
  }

  #failed(error: string): Decision {
    return { decision: this.#settings.deniesOnFailure ? 'deny' : 'none', reason: '', error }
  }

  async #ask(attributes: Attributes, spec: Loose, key: string): Promise<Decision> {
    const { version, authorizedTtlMs, unauthorizedTtlMs } = this.#settings
    let status: Loose
    try {
      const apiVersion = `authorization.k8s.io/${version}`
      status = await this.#webhook.review(apiVersion, 'SubjectAccessReview', spec)
    } catch (error) {
      return this.#failed((error as Error).message)
    }
    const decision = decisionOf(status)
    if (textSize(attributes) < requestTextMax) {
      const ttl = status.allowed === true ? authorizedTtlMs : unauthorizedTtlMs
      this.#cache.set(key, decision, ttl)
    }
    return decision
  }
}

/**
 * Returns whether the request meets all conditions, or the error if that is unknown. A condition
 * that is false takes precedence over errors.
 */
function meetsAll(
  conditions: readonly AccessExpression[],
  attributes: Attributes,
): { met: boolean | string; failed: boolean } {
  const request = shownToConditions(attributes)
  const problems: string[] = []
  for (const condition of conditions) {
    const value = condition.evaluate(request)
    if (value === false) return { met: false, failed: problems.length > 0 }
    if (!isError(value)) continue
    problems.push(
      `cel evaluation error: expression '${condition.text}' resulted in error: ${value.message}`,
    )
  }
  const failed = problems.length > 0
  return { met: failed ? joinErrors(problems) : true, failed }
}

/** All string fields are present, even if empty. */
function shownToConditions({
  user,
  isResource,
  verb,
  path,
  selectors,
  ...rest
}: Attributes): Loose {
  const shown = { user: user.name, groups: user.groups, uid: user.uid, extra: user.extra }
  if (!isResource) return { ...shown, nonResourceAttributes: { verb, path } }
  const { namespace, group, version, resource, subresource, name } = rest
  return {
    ...shown,
    resourceAttributes: {
      ...{ namespace, verb, group, version, resource, subresource, name },
      ...selectorsForReview(selectors),
    },
  }
}

function decisionOf({ allowed, denied, reason: given }: Loose): Decision {
  const reason = typeof given === 'string' ? given : ''
  if (denied === true && allowed === true) {
    const error = 'webhook subject access review returned both allow and deny response'
    return { decision: 'deny', reason, error }
  }
  if (denied === true) return { decision: 'deny', reason }
  return { decision: allowed === true ? 'allow' : 'none', reason }
}

function specOf({ user, isResource, verb, ...rest }: Attributes, version: string): Loose {
  const { namespace, group, version: apiVersion, resource, subresource, name, path } = rest
  const given = (fields: Record<string, string>) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
  return {
    ...(isResource
      ? {
          resourceAttributes: {
            ...given({
              namespace,
              verb,
              group,
              version: apiVersion,
              resource,
              subresource,
              name,
            }),
            ...selectorsForReview(rest.selectors),
          },
        }
      : { nonResourceAttributes: given({ path, verb }) }),
    ...given({ user: user.name }),
    ...(user.groups.length > 0 && { [version === 'v1' ? 'groups' : 'group']: user.groups }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    ...given({ uid: user.uid }),
  }
}

const textSize = ({ namespace, verb, group, version, resource, ...rest }: Attributes): number =>
  [namespace, verb, group, version, resource, rest.subresource, rest.name, rest.path].join('')
    .length
