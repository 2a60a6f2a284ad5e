/**
 * Determines the representation of a response from the Accept header and the query, once per
 * request, before any other work.
 */
import {
  checkRouteAccepts,
  type ResponderKind,
  mediaTypes,
  type Transform,
  type Wanted,
  wantedAggregated,
  wantedForm,
  wantedStream,
  wantsPretty,
} from '#codec/media-type.ts'
import { ApiError } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { patchTypeOf, type ReleaseFeatures } from '#http/request/body.ts'
import type { Exchange } from '#http/exchange.ts'
import { headerText } from '#access/authenticate/header-values.ts'

export interface Shape {
  readonly format: Wanted['format']
  readonly as: Transform | undefined
  readonly pretty: boolean
  readonly contentType: string
  /** The stored bytes are sent unchanged, so nothing is decoded. */
  readonly plainJson: boolean
}

const acceptOf = ({ wire }: Exchange) => headerText(wire.headers.accept)

/**
 * The router's checks for built-in kinds, before all others: the patch type, then the accepted
 * types.
 */
export function requireRoutable(exchange: Exchange, kind: Kind, server: ReleaseFeatures): void {
  if (exchange.target.verb === 'patch') patchTypeOf(exchange, kind, server)
  const { verb } = exchange.target
  const produces = verb === 'list' || verb === 'watch' ? 'any form or stream' : 'any form'
  const { namesRepresentations, acceptRules } = exchange
  checkRouteAccepts(acceptOf(exchange), produces, namesRepresentations, acceptRules)
}

/**
 * A log is sent as plain text. The Accept header must also allow one of the formats of API objects,
 * because kube-apiserver negotiates the format of a possible error first.
 */
export function requireLogAccepted(exchange: Exchange): void {
  const accept = acceptOf(exchange)
  checkRouteAccepts(accept, 'log', exchange.namesRepresentations, exchange.acceptRules)
  wantedForm(accept, 'document', exchange.acceptRules)
}

export function negotiateShape(exchange: Exchange, kind: Kind): Shape {
  const accept = acceptOf(exchange)
  const endpoint = endpointOf(kind, exchange)
  const wanted =
    exchange.target.verb === 'watch'
      ? wantedStream(accept, endpoint, exchange.acceptRules)
      : wantedForm(accept, endpoint, exchange.acceptRules)
  return shapeOf(exchange, wanted)
}

/** The status of a custom kind is shown as the object itself, in all releases. */
function endpointOf(
  kind: Kind,
  { target: { subresource }, tablesOfSubresources }: Exchange,
): ResponderKind {
  const isTable = subresource === '' || subresource === 'scale' || hasTableOf(kind, subresource)
  const hasNoTable = subresource !== '' && tablesOfSubresources !== true
  if (kind.origin === 'custom') {
    const isItself = subresource === '' || kind.subresources.get(subresource)?.kind === kind.kind
    return isItself || (isTable && !hasNoTable) ? 'custom' : 'custom without tables'
  }
  return kind.tables === false || !isTable || hasNoTable ? 'built-in without tables' : 'built-in'
}

/** Groups whose statuses kube-apiserver cannot show as tables. */
const groupsWithoutStatusTables = new Set([
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
])

const hasTableOf = ({ group }: Kind, subresource: string): boolean =>
  subresource === 'status' && !groupsWithoutStatusTables.has(group)

/**
 * The shape of a fixed document such as discovery. `produces`: the formats that the document's
 * route checks the Accept header against. `unrouted` documents have no route and skip that check.
 */
export function documentShape(
  exchange: Exchange,
  produces: 'any form' | 'json' | 'unrouted' = 'any form',
): Shape {
  const accept = acceptOf(exchange)
  const { namesRepresentations, acceptRules } = exchange
  if (produces !== 'unrouted') {
    checkRouteAccepts(accept, produces, namesRepresentations, acceptRules)
  }
  if (produces === 'json') return jsonShape
  return shapeOf(exchange, wantedForm(accept, 'document', exchange.acceptRules))
}

export interface AggregatedShape extends Shape {
  /** The version of apidiscovery.k8s.io. */
  readonly version: string
}

/** The form of aggregated discovery, if the client prefers it and accepts a served version. */
export function aggregatedShape(
  exchange: Exchange,
  versions: readonly string[],
): AggregatedShape | undefined {
  if (versions.length === 0) return undefined
  const wanted = wantedAggregated(acceptOf(exchange), versions, exchange.acceptRules)
  if (wanted === undefined) return undefined
  return { ...shapeOf(exchange, { ...wanted, as: undefined }), version: wanted.version }
}

const jsonShape: Shape = {
  format: 'json',
  as: undefined,
  pretty: false,
  contentType: mediaTypes.json,
  plainJson: true,
}

function shapeOf({ query, wire }: Exchange, wanted: Wanted): Shape {
  const pretty =
    wanted.pretty || wantsPretty(query.get('pretty'), headerText(wire.headers['user-agent']))
  if (
    wanted.format === 'json' &&
    wanted.as === undefined &&
    !pretty &&
    wanted.mediaType === mediaTypes.json
  ) {
    return jsonShape
  }
  return {
    format: wanted.format,
    as: wanted.as,
    pretty,
    contentType: wanted.mediaType,
    plainJson: false,
  }
}

/** Errors use the requested format if it can be parsed, otherwise JSON. */
export function shapeOfError(exchange: Exchange): Shape {
  try {
    const wanted = wantedForm(acceptOf(exchange), 'document', exchange.acceptRules)
    return shapeOf(exchange, { ...wanted, as: undefined, mediaType: mediaTypes[wanted.format] })
  } catch (error) {
    if (error instanceof ApiError) return jsonShape
    throw error
  }
}
