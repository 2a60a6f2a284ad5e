/**
 * Reads the file of --authentication-config: the issuers of web tokens, how the claims of each
 * become a user, and which anonymous requests are allowed. Invalid fields are reported together.
 */
import { readFileSync } from 'node:fs'
import { AccessExpression, ExpressionProblem } from '#access/access-expression.ts'
import { joinErrors } from '#access/error-list.ts'
import type { Loose } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { change, type Release } from '#api/releases/change.ts'
import { configurationType, decodeStrictly } from '#access/strict-configuration.ts'
import { readBundle } from './certificate-chain.ts'

const newestVersion = change('AuthenticationConfiguration has version v1', { since: 34 })
const betaVersion = change('AuthenticationConfiguration has version v1beta1', { since: 30 })
const emptyConfiguration = change('an AuthenticationConfiguration can have no issuer', {
  since: 30,
})
const egressField = change('the issuer of a JWT authenticator can name an egress selector', {
  since: 34,
})
const anonymousByPath = change('anonymous requests can be limited to paths', { since: 31 })

/** A claim or an expression. */
const claimShape = { claim: 'string', expression: 'string' } as const
const prefixedShape = { ...claimShape, prefix: 'string' } as const
const issuerShape = {
  url: 'string',
  discoveryURL: 'string',
  certificateAuthority: 'string',
  audiences: ['string'],
  audienceMatchPolicy: 'string',
} as const
const jwtShape = {
  claimValidationRules: [{ ...claimShape, requiredValue: 'string', message: 'string' }],
  claimMappings: {
    username: prefixedShape,
    groups: prefixedShape,
    uid: claimShape,
    extra: [{ key: 'string', valueExpression: 'string' }],
  },
  userValidationRules: [{ expression: 'string', message: 'string' }],
} as const
const anonymousShape = { enabled: 'bool', conditions: [{ path: 'string' }] } as const

const fileType = (release: Release) =>
  configurationType({
    jwt: [
      {
        ...jwtShape,
        issuer: {
          ...issuerShape,
          ...(release.has(egressField) && { egressSelectorType: 'string' as const }),
        },
      },
    ],
    ...(release.has(anonymousByPath) && { anonymous: anonymousShape }),
  })

const egressGate = 'StructuredAuthenticationConfigurationEgressSelector'
const issuersMax = 64
const group = 'apiserver.config.k8s.io'

/** A claim, or an expression over all of them. */
export type ClaimMapping =
  | { readonly claim: string; readonly prefix: string }
  | { readonly expression: AccessExpression }

export interface ValidationRule {
  readonly expression: AccessExpression
  readonly message: string
}

export interface JwtIssuer {
  readonly url: string
  /** The URL of the discovery document, if it is not below the issuer. */
  readonly discoveryUrl: string
  readonly audiences: readonly string[]
  /** PEM; empty for the system's trusted authorities. */
  readonly certificateAuthority: string
  readonly username: ClaimMapping
  readonly groups: ClaimMapping | undefined
  readonly uid: ClaimMapping | undefined
  readonly extra: readonly { readonly key: string; readonly expression: AccessExpression }[]
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly claimRules: readonly ValidationRule[]
  readonly userRules: readonly ValidationRule[]
}

export interface AuthenticationConfiguration {
  readonly issuers: readonly JwtIssuer[]
  /**
   * Undefined if only the flag decides. Without `paths`, anonymous requests are allowed for all
   * paths.
   */
  readonly anonymous:
    | { readonly enabled: boolean; readonly paths?: ReadonlySet<string> }
    | undefined
}

/**
 * Throws an error with the file name if the configuration is invalid. `ownIssuers` are the issuers
 * of service account tokens.
 */
export function readAuthenticationConfiguration(
  file: string,
  release: Release,
  feature: (gate: string) => boolean,
  ownIssuers: readonly string[],
): AuthenticationConfiguration {
  try {
    return new Reading(release, feature, ownIssuers).all(readFileSync(file))
  } catch (error) {
    throw new Error(`invalid authentication configuration ${file}: ${(error as Error).message}`)
  }
}

class Reading {
  readonly #release: Release
  readonly #feature: (gate: string) => boolean
  readonly #ownIssuers: readonly string[]
  readonly #problems: string[] = []

  constructor(release: Release, feature: (gate: string) => boolean, ownIssuers: readonly string[]) {
    this.#release = release
    this.#feature = feature
    this.#ownIssuers = ownIssuers
  }

  all(bytes: Buffer): AuthenticationConfiguration {
    const value = decodeStrictly(bytes, (written) => {
      this.#requireKind(written)
      return fileType(this.#release)
    })
    const jwt: Loose[] = value.jwt ?? []
    if (jwt.length === 0 && !this.#release.has(emptyConfiguration)) this.#required('jwt')
    if (jwt.length > issuersMax) {
      const why = `Too many: ${jwt.length}: must have at most ${issuersMax} items`
      throw new Error(`jwt: ${why}`)
    }
    const issuers = jwt.map((one, i) => this.#issuer(one, `jwt[${i}]`))
    this.#unique(
      issuers.map(({ url }) => url),
      (i) => `jwt[${i}].issuer.url`,
    )
    this.#unique(
      issuers.map(({ discoveryUrl }) => discoveryUrl),
      (i) => `jwt[${i}].issuer.discoveryURL`,
    )
    const anonymous = this.#anonymous(value.anonymous)
    if (this.#problems.length > 0) throw new Error(joinErrors(this.#problems))
    requireNoEgress(jwt)
    return { issuers, anonymous }
  }

  #requireKind({ apiVersion = '', kind = '' }: Loose): void {
    const versions = [
      ...(this.#release.has(newestVersion) ? ['v1'] : []),
      ...(this.#release.has(betaVersion) ? ['v1beta1'] : []),
      'v1alpha1',
    ]
    if (
      kind === 'AuthenticationConfiguration' &&
      versions.some((v) => apiVersion === `${group}/${v}`)
    )
      return
    throw new Error(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`)
  }

  #invalid(field: string, value: string, why: string): void {
    this.#problems.push(`${field}: Invalid value: ${goQuote(value)}: ${why}`)
  }

  #required(field: string, why = ''): void {
    this.#problems.push(`${field}: Required value${why === '' ? '' : `: ${why}`}`)
  }

  #unique(values: readonly string[], fieldOf: (i: number) => string): void {
    values.forEach((value, i) => {
      if (value !== '' && values.indexOf(value) < i)
        this.#problems.push(`${fieldOf(i)}: Duplicate value: ${goQuote(value)}`)
    })
  }

  #issuer({ issuer = {}, claimMappings = {}, ...rules }: Loose, at: string): JwtIssuer {
    const { url = '', discoveryURL = '', audiences = [], certificateAuthority = '' } = issuer
    if (url === '') this.#required(`${at}.issuer.url`)
    else this.#url(url, `${at}.issuer.url`, this.#ownIssuers)
    if (discoveryURL !== '') {
      const field = `${at}.issuer.discoveryURL`
      if (url !== '' && withoutSlash(url) === withoutSlash(discoveryURL))
        this.#invalid(field, discoveryURL, 'discoveryURL must be different from URL')
      this.#url(discoveryURL, field, [])
    }
    this.#audiences(audiences, issuer.audienceMatchPolicy ?? '', `${at}.issuer`)
    this.#authority(certificateAuthority, `${at}.issuer.certificateAuthority`)
    this.#egress(issuer.egressSelectorType ?? '', `${at}.issuer.egressSelectorType`)
    const claimRules = this.#claimRules(rules.claimValidationRules, `${at}.claimValidationRules`)
    const mappings = this.#mappings(claimMappings, `${at}.claimMappings`, claimRules.expressions)
    const userRules = this.#rules(rules.userValidationRules, `${at}.userValidationRules`, 'user')
    return {
      url,
      discoveryUrl: discoveryURL,
      audiences,
      certificateAuthority,
      ...mappings,
      requiredClaims: claimRules.required,
      claimRules: claimRules.expressions,
      userRules,
    }
  }

  #url(text: string, field: string, disallowed: readonly string[]): void {
    if (disallowed.includes(text)) {
      const shown = [...disallowed].sort().join(' ')
      this.#invalid(field, text, `URL must not overlap with disallowed issuers: [${shown}]`)
    }
    const url = URL.parse(text)
    if (url?.protocol !== 'https:') this.#invalid(field, text, 'URL scheme must be https')
    if (url === null) return
    if (url.username !== '' || url.password !== '')
      this.#invalid(field, text, 'URL must not contain a username or password')
    if (url.search !== '') this.#invalid(field, text, 'URL must not contain a query')
    if (url.hash !== '') this.#invalid(field, text, 'URL must not contain a fragment')
  }

  #audiences(audiences: readonly string[], policy: string, at: string): void {
    const field = `${at}.audiences`
    if (audiences.length === 0) this.#required(field, `at least one ${field} is required`)
    for (const [i, one] of audiences.entries()) if (one === '') this.#required(`${field}[${i}]`)
    this.#unique(audiences, (i) => `${field}[${i}]`)
    const any = policy === 'MatchAny'
    if (audiences.length > 1 && !any) {
      const why = 'audienceMatchPolicy must be MatchAny for multiple audiences'
      this.#invalid(`${at}.audienceMatchPolicy`, policy, why)
    }
    if (audiences.length === 1 && policy !== '' && !any) {
      const why = 'audienceMatchPolicy must be empty or MatchAny for single audience'
      this.#invalid(`${at}.audienceMatchPolicy`, policy, why)
    }
  }

  #authority(pem: string, field: string): void {
    if (pem === '') return
    try {
      readBundle(pem, field)
    } catch (error) {
      this.#invalid(field, '<omitted>', (error as Error).message)
    }
  }

  #egress(selector: string, field: string): void {
    if (selector === '') return
    if (!this.#feature(egressGate)) {
      const why = `egress selector is not supported when ${egressGate} feature gate is disabled`
      this.#invalid(field, selector, why)
    }
    if (selector !== 'controlplane' && selector !== 'cluster')
      this.#invalid(field, selector, 'egress selector must be either controlplane or cluster')
  }

  #expression(
    text: string,
    variable: 'claims' | 'user',
    field: string,
    isCondition: boolean,
  ): AccessExpression | undefined {
    const wrongType = isCondition ? () => 'must evaluate to bool' : undefined
    try {
      return new AccessExpression(text, variable, this.#release, wrongType)
    } catch (error) {
      if (!(error instanceof ExpressionProblem)) throw error
      this.#invalid(field, text, error.message)
      return undefined
    }
  }

  #claimRules(
    rules: Loose[] | undefined,
    at: string,
  ): { required: Map<string, string>; expressions: ValidationRule[] } {
    const required = new Map<string, string>()
    const byExpression: Loose[] = []
    for (const [i, rule] of (rules ?? []).entries()) {
      const { claim = '', requiredValue = '', expression = '', message = '' } = rule
      const field = `${at}[${i}]`
      if (claim !== '' && expression !== '')
        this.#invalid(field, claim, "claim and expression can't both be set")
      else if (claim === '' && expression === '')
        this.#required(field, 'claim or expression is required')
      else if (claim !== '') {
        if (message !== '')
          this.#invalid(`${field}.message`, message, 'may not be specified when claim is set')
        if (required.has(claim))
          this.#problems.push(`${field}.claim: Duplicate value: ${goQuote(claim)}`)
        required.set(claim, requiredValue)
      } else {
        const why = 'may not be specified when expression is set'
        if (requiredValue !== '') this.#invalid(`${field}.requiredValue`, requiredValue, why)
        byExpression.push({ ...rule, field })
      }
    }
    return { required, expressions: this.#rules(byExpression, at, 'claims') }
  }

  #rules(rules: Loose[] | undefined, at: string, variable: 'claims' | 'user'): ValidationRule[] {
    const seen = new Set<string>()
    return (rules ?? []).flatMap(({ expression: text = '', message = '', field }, i) => {
      const where = `${field ?? `${at}[${i}]`}.expression`
      if (text === '') this.#required(where)
      else if (seen.has(text)) this.#problems.push(`${where}: Duplicate value: ${goQuote(text)}`)
      if (text === '' || seen.has(text)) return []
      seen.add(text)
      const expression = this.#expression(text, variable, where, true)
      return expression === undefined ? [] : [{ expression, message }]
    })
  }

  #mappings(
    { username = {}, groups = {}, uid = {}, extra = [] }: Loose,
    at: string,
    claimRules: readonly ValidationRule[],
  ): Pick<JwtIssuer, 'username' | 'groups' | 'uid' | 'extra'> {
    const user = this.#mapping(username, `${at}.username`, { required: true, prefixed: true })
    const mapped = {
      // A missing username is a configuration error, so this value is not used.
      username: user ?? { claim: '', prefix: '' },
      groups: this.#mapping(groups, `${at}.groups`, { required: false, prefixed: true }),
      uid: this.#mapping(uid, `${at}.uid`, { required: false, prefixed: false }),
      extra: this.#extra(extra, `${at}.extra`),
    }
    if (user === undefined || !('expression' in user) || !user.expression.selects('email'))
      return mapped
    const others = [user.expression, ...mapped.extra.map(({ expression }) => expression)]
    const all = [...others, ...claimRules.map(({ expression }) => expression)]
    if (all.some((one) => one.selects('email_verified'))) return mapped
    const why =
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'
    this.#invalid(`${at}.username.expression`, user.expression.text, why)
    return mapped
  }

  #mapping(
    { claim = '', expression = '', prefix }: Loose,
    at: string,
    { required, prefixed }: { required: boolean; prefixed: boolean },
  ): ClaimMapping | undefined {
    if (claim !== '' && expression !== '') {
      this.#invalid(at, '', "claim and expression can't both be set")
      return undefined
    }
    if (expression !== '') {
      const why = 'may not be specified when expression is set'
      if (prefixed && prefix != null) this.#invalid(`${at}.prefix`, prefix, why)
      const compiled = this.#expression(expression, 'claims', `${at}.expression`, false)
      return compiled && { expression: compiled }
    }
    if (claim === '') {
      if (required) this.#required(at, 'claim or expression is required')
      return undefined
    }
    if (prefixed && prefix == null) {
      const why =
        'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
      this.#required(`${at}.prefix`, why)
    }
    return { claim, prefix: prefix ?? '' }
  }

  #extra(mappings: Loose[], at: string): JwtIssuer['extra'] {
    const seen = new Set<string>()
    return mappings.flatMap(({ key = '', valueExpression = '' }, i) => {
      const field = `${at}[${i}]`
      this.#extraKey(key, `${field}.key`)
      if (seen.has(key)) this.#problems.push(`${field}.key: Duplicate value: ${goQuote(key)}`)
      if (seen.has(key)) return []
      seen.add(key)
      if (valueExpression === '') this.#required(`${field}.valueExpression`)
      if (valueExpression === '') return []
      const where = `${field}.valueExpression`
      const expression = this.#expression(valueExpression, 'claims', where, false)
      return expression === undefined ? [] : [{ key, expression }]
    })
  }

  #extraKey(key: string, field: string): void {
    if (key === '') {
      this.#required(field)
      return
    }
    const [domain = '', ...path] = key.split('/')
    if (path.length === 0 || domain === '' || path.join('/') === '')
      this.#invalid(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")')
    if (key !== key.toLowerCase()) this.#invalid(field, key, 'must be lowercase')
    if (path.length > 0 && /(^|\.)(kubernetes|k8s)\.io$/.test(domain)) {
      const why = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
      this.#invalid(field, key, why)
    }
  }

  #anonymous(anonymous: Loose | null | undefined): AuthenticationConfiguration['anonymous'] {
    if (anonymous == null || !this.#release.has(anonymousByPath)) return undefined
    const { enabled = false, conditions = [] } = anonymous
    if (!enabled && conditions.length > 0) {
      const why = 'enabled should be set to true when conditions are defined'
      this.#problems.push(
        `anonymous.conditions: Invalid value: ${JSON.stringify(conditions)}: ${why}`,
      )
    }
    const paths = new Set((conditions as Loose[]).map(({ path = '' }) => path as string))
    return { enabled, ...(paths.size > 0 && { paths }) }
  }
}

/** This server has no egress selectors, so it reports what kube-apiserver without any reports. */
function requireNoEgress(jwt: readonly Loose[]): void {
  for (const { issuer } of jwt) {
    const selector = issuer?.egressSelectorType ?? ''
    if (selector === '') continue
    const why = `egress lookup required with egress selector type ${goQuote(selector)}`
    throw new Error(`oidc: ${why}`)
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
