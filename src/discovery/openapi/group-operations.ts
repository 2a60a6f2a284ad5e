/**
 * Describes the discovery paths for the OpenAPI documents: /api, /apis, each group and version,
 * /version, and the OpenID Connect documents of the token issuer.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { OpenApiOperation } from './operation.ts'
import { basePath, operationId, tagOf } from './names.ts'
import { metaType, type OpenApiSource } from './source.ts'

const negotiated = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const negotiatedWithCbor = [...negotiated, 'application/cbor']

/** The media types of discovery and of built-in kinds. */
export const negotiatedBy = ({ servesCbor }: OpenApiSource): readonly string[] =>
  servesCbor ? negotiatedWithCbor : negotiated

const listsCbor = change('OpenAPI offers CBOR for lists of groups and versions', { since: 37 })

/** Resources of a version were offered in CBOR before groups and versions were. */
const groupTypes = (source: OpenApiSource): readonly string[] =>
  releaseOf(source.release).has(listsCbor) ? negotiatedBy(source) : negotiated

const describesIssuer = change('OpenAPI describes the discovery of the token issuer', { since: 20 })

/** Describes a GET operation of discovery. */
const getOperation = (
  source: OpenApiSource,
  path: string,
  id: string,
  tag: string,
  description: string,
  answer: string,
  mediaTypes = groupTypes(source),
): OpenApiOperation => ({
  path,
  method: 'get',
  id,
  tag,
  description,
  consumes: mediaTypes,
  produces: mediaTypes,
  parameters: [],
  codes: [200],
  answer,
})

export function groupVersionOperation(
  source: OpenApiSource,
  group: string,
  version: string,
): OpenApiOperation {
  return getOperation(
    source,
    `${basePath(group, version)}/`,
    operationId('get', group, version, 'APIResources'),
    tagOf(group, version),
    'Lists the resources of the version.',
    metaType('APIResourceList'),
    negotiatedBy(source),
  )
}

export function groupOperation(source: OpenApiSource, group: string): OpenApiOperation {
  return getOperation(
    source,
    `/apis/${group}/`,
    operationId('get', group, '', 'APIGroup'),
    tagOf(group),
    'Lists the versions of the group.',
    metaType('APIGroup'),
  )
}

/**
 * The operations of discovery paths without a group: /api, /apis, /version and the token issuer.
 */
export function rootOperations(source: OpenApiSource): OpenApiOperation[] {
  const version: OpenApiOperation = {
    ...getOperation(
      source,
      '/version/',
      'getCodeVersion',
      'version',
      'Returns the release of the server.',
      'io.k8s.apimachinery.pkg.version.Info',
    ),
    consumes: ['application/json'],
    produces: ['application/json'],
  }
  const operations = [
    getOperation(
      source,
      '/api/',
      'getCoreAPIVersions',
      'core',
      'Lists core versions.',
      metaType('APIVersions'),
    ),
    getOperation(
      source,
      '/apis/',
      'getAPIVersions',
      'apis',
      'Lists the groups.',
      metaType('APIGroupList'),
    ),
    version,
  ]
  if (!releaseOf(source.release).has(describesIssuer)) return operations
  return [...operations, ...issuerOperations]
}

const issuer: Omit<OpenApiOperation, 'path' | 'id' | 'tag' | 'description' | 'produces'> = {
  method: 'get',
  parameters: [],
  codes: [200],
  answer: 'string',
}

const issuerOperations: readonly OpenApiOperation[] = [
  {
    ...issuer,
    path: '/.well-known/openid-configuration/',
    id: 'getServiceAccountIssuerOpenIDConfiguration',
    tag: 'WellKnown',
    description: 'Describes the issuer of service account tokens.',
    produces: ['application/json'],
  },
  {
    ...issuer,
    path: '/openid/v1/jwks/',
    id: 'getServiceAccountIssuerOpenIDKeyset',
    tag: 'openid',
    description: 'Lists the public keys that verify service account tokens.',
    produces: ['application/jwk-set+json'],
  },
]
