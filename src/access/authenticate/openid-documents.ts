/**
 * The OpenID discovery document and the JSON web key set, with which other systems verify service
 * account tokens. Created once at start. Undefined if the issuer is not a valid HTTPS URL.
 */
import type { TokenKey } from './json-web-token.ts'

export const openIdConfigurationPath = '/.well-known/openid-configuration'
export const keySetPath = '/openid/v1/jwks'
/** The Cache-Control header of both documents. */
export const openIdCacheControl = 'public, max-age=3600'
export const keySetMediaType = 'application/jwk-set+json'

export interface OpenIdDocuments {
  readonly configuration: string
  readonly keySet: string
}

export interface OpenIdSettings {
  readonly issuer: string
  /** The URL of the keys. By default it is this server's external address. */
  readonly keySetUri: string
  /** In the form host:port. */
  readonly externalAddress: string
  readonly keys: readonly TokenKey[]
}

/** The documents, or the reason why they are not served. */
export function openIdDocuments(settings: OpenIdSettings): OpenIdDocuments | { problem: string } {
  const { issuer, keySetUri, externalAddress, keys } = settings
  if (issuer === '') return { problem: 'empty issuer URL' }
  if (keys.length === 0) return { problem: 'no keys provided for validating keyset' }
  const url = URL.parse(issuer)
  if (url?.protocol !== 'https:')
    return { problem: `issuer URL must use https scheme, got: ${issuer}` }
  if (issuer.includes('?')) return { problem: `issuer URL may not include a query, got: ${issuer}` }
  if (issuer.includes('#'))
    return { problem: `issuer URL may not include a fragment, got: ${issuer}` }
  const uri = keySetUri === '' ? `https://${externalAddress}${keySetPath}` : keySetUri
  if (URL.parse(uri)?.protocol !== 'https:')
    return { problem: `jwksURI requires https scheme, parsed as: ${uri}` }
  const algorithms = [...new Set(keys.map(({ algorithm }) => algorithm))].sort()
  return {
    configuration: JSON.stringify({
      issuer,
      jwks_uri: uri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: algorithms,
    }),
    keySet: JSON.stringify({ keys: keys.map(publicMembers) }),
  }
}

/** Members in kube-apiserver's order. */
function publicMembers({ publicKey, id, algorithm }: TokenKey): Record<string, unknown> {
  const { kty, crv, x, y, n, e } = publicKey.export({ format: 'jwk' })
  return {
    use: 'sig',
    kty,
    kid: id,
    ...(crv !== undefined && { crv }),
    alg: algorithm,
    ...(n !== undefined && { n, e }),
    ...(x !== undefined && { x, y }),
  }
}
