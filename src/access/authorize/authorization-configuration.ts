/**
 * Reads the file of --authorization-config: the authorizers in order, with the settings of
 * webhooks. Invalid fields are reported together. A wrong kind or an unreadable duration is
 * reported alone.
 */
import { readFileSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { AccessExpression, ExpressionProblem } from '#access/access-expression.ts'
import { joinErrors } from '#access/error-list.ts'
import { configurationType, decodeStrictly } from '#access/strict-configuration.ts'
import type { AuthorizationMode } from '#access/settings.ts'
import { dns1123Subdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { parseDuration } from '#api/duration.ts'
import { change, type Release } from '#api/releases/change.ts'

const newestVersion = change('AuthorizationConfiguration has version v1', { since: 32 })
const betaVersion = change('AuthorizationConfiguration has version v1beta1', { since: 30 })

const group = 'apiserver.config.k8s.io'
const webhookShape = {
  authorizedTTL: 'string',
  cacheAuthorizedRequests: 'bool',
  unauthorizedTTL: 'string',
  cacheUnauthorizedRequests: 'bool',
  timeout: 'string',
  subjectAccessReviewVersion: 'string',
  matchConditionSubjectAccessReviewVersion: 'string',
  failurePolicy: 'string',
  connectionInfo: { type: 'string', kubeConfigFile: 'string' },
  matchConditions: [{ expression: 'string' }],
} as const
const fileType = configurationType({
  authorizers: [{ type: 'string', name: 'string', webhook: webhookShape }],
})

const kinds = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']
const conditionsMax = 64
const timeoutMsMax = 30_000

export interface WebhookChoice {
  readonly timeoutMs: number
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly version: 'v1' | 'v1beta1'
  readonly kubeconfig: string
  readonly deniesOnFailure: boolean
  readonly conditions: readonly AccessExpression[]
}

export type ConfiguredAuthorizer = { readonly name: string } & (
  | { readonly type: Exclude<AuthorizationMode, 'Webhook'> }
  | { readonly type: 'Webhook'; readonly webhook: WebhookChoice }
)

/** Throws an error that names the file if the file cannot be read or is invalid. */
export function readAuthorizationConfiguration(
  file: string,
  release: Release,
): readonly ConfiguredAuthorizer[] {
  try {
    return new Reading(release).all(readFileSync(file))
  } catch (error) {
    throw new Error(`invalid authorization configuration ${file}: ${(error as Error).message}`)
  }
}

class Reading {
  readonly #release: Release
  readonly #problems: string[] = []

  constructor(release: Release) {
    this.#release = release
  }

  all(bytes: Buffer): ConfiguredAuthorizer[] {
    const value = decodeStrictly(bytes, (written) => {
      this.#requireKind(written)
      return fileType
    })
    const authorizers: Loose[] = value.authorizers ?? []
    if (authorizers.length === 0)
      this.#required('authorizers', 'at least one authorization mode must be defined')
    const seenTypes = new Set<string>()
    const seenNames = new Set<string>()
    const all = authorizers.flatMap((one, i) =>
      this.#authorizer(one, `authorizers[${i}]`, seenTypes, seenNames),
    )
    if (this.#problems.length > 0) throw new Error(joinErrors(this.#problems))
    return all
  }

  #requireKind({ apiVersion = '', kind = '' }: Loose): void {
    const versions = [
      ...(this.#release.has(newestVersion) ? ['v1'] : []),
      ...(this.#release.has(betaVersion) ? ['v1beta1'] : []),
      'v1alpha1',
    ]
    const isKnown = versions.some((version) => apiVersion === `${group}/${version}`)
    if (kind === 'AuthorizationConfiguration' && isKnown) return
    throw new Error(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`)
  }

  #invalid(field: string, value: string, why: string): void {
    this.#problems.push(`${field}: Invalid value: ${goQuote(value)}: ${why}`)
  }

  #required(field: string, why = ''): void {
    this.#problems.push(`${field}: Required value${why === '' ? '' : `: ${why}`}`)
  }

  #duplicate(field: string, value: string): void {
    this.#problems.push(`${field}: Duplicate value: ${goQuote(value)}`)
  }

  #unsupported(field: string, value: string, supported: readonly string[]): void {
    const shown = supported.map(goQuote).join(', ')
    this.#problems.push(
      `${field}: Unsupported value: ${goQuote(value)}: supported values: ${shown}`,
    )
  }

  #authorizer(
    { type = '', name = '', webhook }: Loose,
    at: string,
    seenTypes: Set<string>,
    seenNames: Set<string>,
  ): ConfiguredAuthorizer[] {
    if (type === '') this.#required(`${at}.type`)
    else if (!kinds.includes(type)) this.#unsupported(`${at}.type`, type, kinds)
    else if (seenTypes.has(type) && type !== 'Webhook') this.#duplicate(`${at}.type`, type)
    if (!kinds.includes(type) || (seenTypes.has(type) && type !== 'Webhook')) return []
    seenTypes.add(type)
    const nameProblems = dns1123Subdomain(name)
    if (name === '') this.#required(`${at}.name`)
    else if (seenNames.has(name)) this.#duplicate(`${at}.name`, name)
    else if (nameProblems.length > 0)
      this.#invalid(`${at}.name`, name, `authorizer name is invalid: ${nameProblems.join(', ')}`)
    seenNames.add(name)
    if (type !== 'Webhook') {
      const why = 'may only be specified when type=Webhook'
      if (webhook != null) this.#invalid(`${at}.webhook`, 'non-null', why)
      return [{ name, type }]
    }
    if (webhook == null) {
      this.#required(`${at}.webhook`, 'required when type=Webhook')
      return []
    }
    return [{ name, type, webhook: this.#webhook(webhook, at) }]
  }

  #webhook(webhook: Loose, at: string): WebhookChoice {
    const { cacheAuthorizedRequests = true, cacheUnauthorizedRequests = true } = webhook
    const timeoutMs = this.#time(webhook.timeout, `${at}.timeout`, timeoutMsMax)
    const authorizedMs = this.#time(webhook.authorizedTTL ?? '5m', `${at}.authorizedTTL`)
    const unauthorizedMs = this.#time(webhook.unauthorizedTTL ?? '30s', `${at}.unauthorizedTTL`)
    const version = webhook.subjectAccessReviewVersion ?? ''
    this.#choice(version, ['v1', 'v1beta1'], `${at}.subjectAccessReviewVersion`)
    const conditions: Loose[] = webhook.matchConditions ?? []
    const conditionVersion = webhook.matchConditionSubjectAccessReviewVersion ?? ''
    const field = `${at}.matchConditionSubjectAccessReviewVersion`
    if (conditionVersion !== '') this.#choice(conditionVersion, ['v1'], field)
    else if (conditions.length > 0)
      this.#required(field, 'required if match conditions are specified')
    const policy = webhook.failurePolicy ?? ''
    this.#choice(policy, ['NoOpinion', 'Deny'], `${at}.failurePolicy`)
    return {
      timeoutMs,
      authorizedTtlMs: cacheAuthorizedRequests ? authorizedMs : 0,
      unauthorizedTtlMs: cacheUnauthorizedRequests ? unauthorizedMs : 0,
      version,
      kubeconfig: this.#kubeconfig(webhook.connectionInfo ?? {}, `${at}.connectionInfo`),
      deniesOnFailure: policy === 'Deny',
      conditions: this.#conditions(conditions, at),
    }
  }

  #choice(value: string, choices: readonly string[], field: string): void {
    if (value === '') this.#required(field)
    else if (!choices.includes(value)) this.#unsupported(field, value, choices)
  }

  #time(text: string | undefined, field: string, msMax = Number.POSITIVE_INFINITY): number {
    const nanos = text === undefined ? 0n : parseDuration(text)
    if (nanos === undefined)
      throw new Error(`${field}: time: invalid duration ${goQuote(text ?? '')}`)
    const ms = Number(nanos / 1_000_000n)
    if (nanos === 0n) this.#required(field)
    else if (ms < 0 || ms > msMax)
      this.#invalid(
        field,
        text ?? '',
        msMax === timeoutMsMax ? 'must be > 0s and <= 30s' : 'must be > 0s',
      )
    return ms
  }

  #kubeconfig({ type = '', kubeConfigFile = '' }: Loose, at: string): string {
    const field = `${at}.kubeConfigFile`
    if (type === 'InClusterConfig') {
      if (kubeConfigFile !== '')
        this.#invalid(field, kubeConfigFile, 'can only be set when type=KubeConfigFile')
      // This server runs in no pod, so there is no such configuration.
      else this.#invalid(`${at}.type`, type, 'this server does not run in a pod')
    } else if (type !== 'KubeConfigFile')
      this.#choice(type, ['InClusterConfig', 'KubeConfigFile'], `${at}.type`)
    else if (kubeConfigFile === '') this.#required(field)
    else if (!isAbsolute(kubeConfigFile))
      this.#invalid(field, kubeConfigFile, 'must be an absolute path')
    else {
      const found = statSync(kubeConfigFile, { throwIfNoEntry: false })
      const missing = `error loading file: stat ${kubeConfigFile}: no such file or directory`
      if (found === undefined) this.#invalid(field, kubeConfigFile, missing)
      else if (!found.isFile()) this.#invalid(field, kubeConfigFile, 'must be a regular file')
    }
    return kubeConfigFile
  }

  #conditions(conditions: Loose[], at: string): AccessExpression[] {
    if (conditions.length > conditionsMax) {
      const why = `Too many: ${conditions.length}: must have at most ${conditionsMax} items`
      this.#problems.push(`${at}.matchConditions: ${why}`)
      return []
    }
    const seen = new Set<string>()
    return conditions.flatMap(({ expression = '' }, i) => {
      const field = `${at}.matchConditions[${i}].expression`
      if (expression.trim() === '') this.#required(field)
      else if (seen.has(expression)) this.#duplicate(field, expression)
      if (expression.trim() === '' || seen.has(expression)) return []
      seen.add(expression)
      try {
        const wrongType = (type: string) => `must evaluate to bool but got ${type}`
        return [new AccessExpression(expression, 'request', this.#release, wrongType)]
      } catch (error) {
        if (!(error instanceof ExpressionProblem)) throw error
        this.#invalid(field, expression, error.message)
        return []
      }
    })
  }
}
