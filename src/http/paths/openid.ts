/**
 * The documents with which other services verify our service account tokens: the issuer's discovery
 * document and its public keys.
 */
import {
  keySetMediaType,
  keySetPath,
  openIdCacheControl,
  openIdConfigurationPath,
  type OpenIdDocuments,
} from '#access/authenticate/openid-documents.ts'
import { pathNotFound } from '#api/status-error.ts'
import { ownBytes } from '#base/own-bytes.ts'
import { checkRouteAccepts, mediaTypes, type Produces } from '#codec/media-type.ts'
import type { Exchange } from '#http/exchange.ts'
import type { PathHandler } from '#http/parts.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import { headerText } from '#access/authenticate/header-values.ts'
import { requireGet } from './require-get.ts'

interface Served {
  readonly produces: Produces
  readonly contentType: string
  readonly body: Buffer
}

export function openIdPaths({ configuration, keySet }: OpenIdDocuments): PathHandler {
  const served = new Map<string, Served>([
    [
      openIdConfigurationPath,
      { produces: 'json', contentType: mediaTypes.json, body: ownBytes(configuration) },
    ],
    [keySetPath, { produces: 'key set', contentType: keySetMediaType, body: ownBytes(keySet) }],
  ])
  const rootOf = (path: string) =>
    [...served.keys()].find((root) => path === root || path.startsWith(`${root}/`))
  return {
    matches: (path) => rootOf(path) !== undefined,
    handle(exchange) {
      const document = served.get(exchange.target.path.replace(/\/$/, ''))
      if (document === undefined) throw pathNotFound()
      requireGet(exchange)
      answer(exchange, document)
    },
  }
}

function answer(exchange: Exchange, { produces, contentType, body }: Served): void {
  const accept = headerText(exchange.wire.headers.accept)
  checkRouteAccepts(accept, produces, exchange.namesRepresentations)
  const headers = answerHeaders(exchange, contentType)
  exchange.status = 200
  exchange.answeredBytes = body.length
  exchange.wire.answer(200, { ...headers, 'cache-control': openIdCacheControl }, body)
}
