/**
 * The settings of authentication and authorization: one member per flag, named like the flag. Files
 * are specified by path.
 */
import type { TokenUses } from './authenticate/token-uses.ts'
import type { ConditionMeter } from './authorize/webhook.ts'
export interface AccessSettings extends AuthenticationSettings, AuthorizationSettings {}

export interface AuthenticationSettings {
  /** The names of the flags on the command line. */
  readonly givenFlags: ReadonlySet<string>
  readonly anonymousAuth: boolean
  readonly clientCaFile: string | undefined
  readonly tokenAuthFile: string | undefined
  readonly basicAuthFile: string | undefined
  readonly enableBootstrapTokenAuth: boolean

  readonly serviceAccountKeyFile: readonly string[]
  readonly serviceAccountSigningKeyFile: string | undefined
  readonly serviceAccountIssuer: readonly string[]
  readonly serviceAccountJwksUri: string | undefined
  readonly apiAudiences: readonly string[]
  readonly serviceAccountLookup: boolean
  readonly serviceAccountMaxTokenExpirationMs: number
  readonly serviceAccountExtendTokenExpiration: boolean

  readonly authenticationConfig: string | undefined
  readonly oidcIssuerUrl: string | undefined
  readonly oidcClientId: string | undefined
  readonly oidcUsernameClaim: string
  readonly oidcUsernamePrefix: string | undefined
  readonly oidcGroupsClaim: string | undefined
  readonly oidcGroupsPrefix: string | undefined
  readonly oidcRequiredClaim: ReadonlyMap<string, string>
  readonly oidcCaFile: string | undefined
  readonly oidcSigningAlgs: readonly string[]

  readonly authenticationTokenWebhookConfigFile: string | undefined
  readonly authenticationTokenWebhookCacheTtlMs: number
  readonly authenticationTokenWebhookVersion: 'v1' | 'v1beta1'

  readonly requestheaderClientCaFile: string | undefined
  readonly requestheaderAllowedNames: readonly string[]
  readonly requestheaderUsernameHeaders: readonly string[]
  readonly requestheaderUidHeaders: readonly string[]
  readonly requestheaderGroupHeaders: readonly string[]
  readonly requestheaderExtraHeadersPrefix: readonly string[]
}

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC' | 'Node' | 'Webhook' | 'ABAC'

export interface AuthorizationSettings {
  readonly authorizationConfig: string | undefined
  readonly authorizationMode: readonly AuthorizationMode[]
  readonly authorizationPolicyFile: string | undefined
  readonly authorizationWebhookConfigFile: string | undefined
  readonly authorizationWebhookVersion: 'v1' | 'v1beta1'
  readonly authorizationWebhookCacheAuthorizedTtlMs: number
  readonly authorizationWebhookCacheUnauthorizedTtlMs: number
}

/** Inputs of authentication and authorization that are not flags. */
/** Called with each attempt to load a changed configuration file. */
export type ReloadMeter = (isLoaded: boolean) => void

export interface AccessSurroundings {
  /** Minor number of the emulated release. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** The host:port at which clients reach this server. */
  readonly externalAddress: string
  /** The server's own certificate authorities, in addition to --client-ca-file, as PEM. */
  readonly ownClientAuthorities: readonly string[]
  /**
   * The server's own keys as PEM, used if no flag specifies keys. All verify service account
   * tokens, and the first one signs them.
   */
  readonly ownTokenKeys: readonly string[]
  /**
   * The key of the serving certificate as PEM. It verifies service account tokens if no key is
   * specified.
   */
  readonly servingKey: string | undefined
  /** Absent where the release does not measure match conditions of authorization webhooks. */
  readonly conditionMeter?: () => ConditionMeter
  /** Records whether a changed configuration file was loaded. */
  readonly reloaded?: (configuration: 'authentication' | 'authorization') => ReloadMeter
  /** Absent if uses of service account tokens are not recorded. */
  readonly tokenUses?: TokenUses
  /** Reports a failure outside any request. It never receives a credential. */
  readonly report: (message: string) => void
}
