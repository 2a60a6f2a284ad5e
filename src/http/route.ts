/**
 * Finds the verb for a target: one lookup in the catalog, one switch over the verb. A target
 * without a resource belongs to the path handlers. Rejections come in kube-apiserver's order: path,
 * method, media types, then the request itself.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { type Awaitable, after } from '#base/awaitable.ts'
import { loadLater } from '#base/load-later.ts'
import { timerMsMax } from '#base/clock.ts'
import { flag, integer, type ListOptions, parseListOptions } from '#api/list-options.ts'
import { ApiError, badRequest, pathNotFound } from '#api/status-error.ts'
import type { Catalog } from '#kinds/catalog.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Answer } from '#verbs/answer.ts'
import { create } from '#verbs/create.ts'
import { remove } from '#verbs/delete.ts'
import { get } from '#verbs/get.ts'
import { list } from '#verbs/list.ts'
import { patch } from '#verbs/patch.ts'
import { select } from '#verbs/selection.ts'
import type { Server, Target } from '#verbs/server.ts'
import { specialVerbs } from '#verbs/special.ts'
import { update } from '#verbs/update.ts'
import { watch } from '#verbs/watch.ts'
import { acceptsGzip, gzipSink } from '#http/response/compress.ts'
import { connect, isConnection } from './connect/connect.ts'
import type { Exchange, Sink } from './exchange.ts'
import { errorFrame, framerFor } from '#http/watch/framer.ts'
import type { HttpParts } from './parts.ts'
import type { RequestTarget } from '#http/request/request-target.ts'
import { requireName, requireRoute } from '#http/request/require-route.ts'
import { answerHeaders } from '#http/response/answer-headers.ts'
import { respond } from '#http/response/respond.ts'
import {
  negotiateShape,
  requireLogAccepted,
  requireRoutable,
  type Shape,
} from '#http/response/shape.ts'
import { warnDeprecated } from '#http/response/warn-deprecated.ts'
import { startedWithin } from '#http/watch/watch-start.ts'
import type { TypedFramer } from '#http/watch/watch-stream.ts'
import { deleteRequest, patchRequest, writeRequest } from '#http/request/write-request.ts'

const loadDeleteCollection = loadLater<typeof import('#verbs/delete-collection.ts')>(
  import.meta.url,
  '#verbs/delete-collection',
)
const loadUnreadable = loadLater<typeof import('#verbs/unreadable-deletion.ts')>(
  import.meta.url,
  '#verbs/unreadable-deletion',
)
const loadWatchStream = loadLater<typeof import('#http/watch/watch-stream.ts')>(
  import.meta.url,
  '#http/watch/watch-stream',
)
const loadWatchSocket = loadLater<typeof import('./connect/watch-socket.ts')>(
  import.meta.url,
  './connect/watch-socket',
)

/**
 * The default timeout of a watch; the actual timeout is random between this and twice this, so that
 * watches do not end together.
 */
const watchTimeoutSecondsDefault = 1800

export async function route(exchange: Exchange, parts: HttpParts): Promise<void> {
  const { target } = exchange
  const remote = parts.aggregation?.remoteFor(target)
  if (remote !== undefined) return parts.aggregation?.pass(exchange, remote)
  if (!target.isResource) return routePath(exchange, parts)
  const kind = parts.server.catalog.find(target.group, target.version, target.resource)
  if (kind === undefined) return routePath(exchange, parts)
  if (kind.origin === 'custom') {
    if (missesScope(target, kind)) return textNotFound(exchange, pageNotFound)
    if (
      !releaseOf(parts.server.release).has(missingSubresourcesHaveStatus) &&
      missesSubresource(target, kind)
    ) {
      return textNotFound(exchange, resourceNotFound)
    }
  }
  exchange.kind = kind
  // For custom kinds, warn before the checks of the route; for built-in kinds, after them.
  if (kind.origin === 'custom') warnDeprecated(exchange, kind)
  requireRoute(target, exchange.wire.method, kind)
  const connection = isConnection(kind, target.subresource) ? parts.connect : undefined
  if (kind.origin === 'built-in' && connection === undefined)
    requireRoutable(exchange, kind, parts.server)
  if (kind.origin === 'built-in') warnDeprecated(exchange, kind)
  if (connection !== undefined) {
    if (target.subresource === 'log') requireLogAccepted(exchange)
    return connect(exchange, kind, connection)
  }
  const shape = negotiateShape(exchange, kind)
  const place: Target = {
    kind,
    namespace: target.namespace,
    name: target.verb === 'create' && target.subresource === '' ? '' : target.name,
    subresource: target.subresource,
  }
  if (target.verb === 'watch') return runWatch(exchange, parts, place, shape)
  const answer = await runVerb(exchange, parts, place)
  await respond(exchange, parts, answer, shape)
}

async function routePath(exchange: Exchange, parts: HttpParts): Promise<void> {
  const { path, prefix, group } = exchange.target
  const { catalog } = parts.server
  for (const handler of parts.paths) {
    if (handler.matches(path)) return handler.handle(exchange)
  }
  if (prefix === 'api' || (prefix !== '' && isBuiltIn(catalog, group))) throw pathNotFound()
  textNotFound(exchange, pageNotFound)
}

/** A custom kind is served only on paths of its scope. */
const missesScope = ({ namespace, verb }: RequestTarget, kind: Kind): boolean =>
  kind.namespaced ? namespace === '' && verb !== 'list' && verb !== 'watch' : namespace !== ''

const missesSubresource = ({ subresource }: RequestTarget, { subresources }: Kind): boolean =>
  subresource !== '' && !subresources.has(subresource)
const missingSubresourcesHaveStatus = change(
  'a missing subresource of a custom kind is answered with a Status',
  { since: 16 },
)

const pageNotFound = Buffer.from('404 page not found\n')
const resourceNotFound = Buffer.from('the server could not find the requested resource\n')

/** Unknown paths get a plain-text 404, as do paths that could belong to a custom kind. */
function textNotFound(exchange: Exchange, body: Buffer): void {
  exchange.status = 404
  exchange.wire.answer(
    404,
    {
      ...answerHeaders(exchange, 'text/plain; charset=utf-8'),
      'x-content-type-options': 'nosniff',
    },
    body,
  )
}

/** An unknown version of a built-in group gets a Status, not a plain-text 404. */
const isBuiltIn = (catalog: Catalog, group: string): boolean =>
  catalog.groupVersions.some(
    (one) =>
      one.group === group &&
      catalog.kindsOf(group, one.version).some(({ origin }) => origin === 'built-in'),
  )

function runVerb(exchange: Exchange, parts: HttpParts, target: Target): Awaitable<Answer> {
  const { server } = parts
  const { verb } = exchange.target
  const special = specialVerbs(target)
  switch (verb) {
    case 'get':
      requireName(target.name)
      if (exchange.query.size > 0 && asksExport(exchange.query, target)) {
        return exported(exchange, server, target)
      }
      if (special.get !== undefined) return special.get(server, target, exchange.query)
      return get(server, target, exchange.query.get('resourceVersion') ?? '')
    case 'list':
      return (special.list ?? list)(
        server,
        target,
        parseListOptions(exchange.query, server.release),
      )
    case 'create':
      return after(writeRequest(exchange, parts, target, verb), (request) =>
        (special.create ?? create)(server, request),
      )
    case 'update':
      return after(writeRequest(exchange, parts, target, verb), (request) =>
        (special.update ?? update)(server, request),
      )
    case 'patch':
      return patchRequest(exchange, parts, target).then((request) =>
        (special.patch ?? patch)(server, request),
      )
    case 'delete':
      requireName(target.name)
      return deleteRequest(exchange, parts, target).then((request) =>
        request.deleteOptions.ignoresReadErrors
          ? loadUnreadable().removeUnreadable(server, request)
          : (special.delete ?? remove)(server, request),
      )
    case 'deletecollection': {
      const watchList = server.feature('WatchList')
      const options = parseListOptions(exchange.query, server.release, false, watchList)
      // The selectors are validated before the delete options.
      select(target.kind, options.labelSelector, options.fieldSelector)
      return deleteRequest(exchange, parts, target).then((request) =>
        loadDeleteCollection().deleteCollection(server, request, options),
      )
    }
    default:
      throw new ApiError(405, 'MethodNotAllowed', `${verb} is not a verb of this resource`)
  }
}

const rejectsExport = change('the parameter export is rejected', { since: 21 })

const loadExport = loadLater<typeof import('#verbs/export.ts')>(import.meta.url, '#verbs/export')

const asksExport = (query: URLSearchParams, { subresource }: Target): boolean =>
  flag(query.get('export')) && subresource !== 'log'

function exported({ query, user }: Exchange, server: Server, target: Target): Promise<Answer> {
  if (releaseOf(server.release).has(rejectsExport)) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  return loadExport().exportObject(server, target, user, flag(query.get('exact')))
}

/**
 * A watch from a compacted revision returns its error as a watch event. So does a WatchList request
 * that timed out while waiting for its revision. All other errors are normal responses.
 */
function orExpired(error: unknown, isList: boolean): ApiError {
  if (error instanceof ApiError) {
    if (error.reason === 'Expired' || (isList && error.reason === 'Timeout')) return error
  }
  throw error
}

async function runWatch(
  exchange: Exchange,
  parts: HttpParts,
  target: Target,
  shape: Shape,
): Promise<void> {
  const { server } = parts
  const options = parseListOptions(
    exchange.query,
    server.release,
    exchange.target.watchPath,
    server.feature('WatchList'),
  )
  const requested = integer(exchange.query.get('timeoutSeconds'))
  const least = parts.limits.minRequestTimeoutSeconds || watchTimeoutSecondsDefault
  // A negative time has passed already: the watch ends at once.
  const seconds = requested ? Math.max(requested, 0) : least * (1 + Math.random())
  const timeoutMs = Math.min(seconds * 1000, timerMsMax)
  const starting = watch(server, target, options).catch((error) =>
    orExpired(error, options.sendInitialEvents === true),
  )
  // A watch without a resourceVersion first reads the store, which may take longer than its
  // timeout.
  const started = await (options.resourceVersion === ''
    ? startedWithin(timeoutMs, starting)
    : starting)
  // A client that requested a WebSocket may get the events as messages.
  const isPacked = packsEvents(exchange, server, options)
  const messages =
    exchange.wire.upgrade && loadWatchSocket().messagesFor(exchange, shape.format !== 'json')
  if (started instanceof ApiError) {
    const sink = messages === undefined ? streamOf(exchange, shape, isPacked) : messages.open()
    notifyStarted(exchange, parts)
    const bytes = errorFrame(shape, started)
    sink?.write(messages?.message(bytes) ?? bytes)
    return sink?.end()
  }
  // A running watch holds no seat.
  exchange.seat?.release()
  let framer: TypedFramer
  let sink: Sink | undefined
  try {
    framer = framerFor(started.kind, shape, parts, exchange)
    sink = messages === undefined ? streamOf(exchange, framer, isPacked) : messages.open()
  } catch (error) {
    started.stop()
    throw error
  }
  if (sink === undefined) return started.stop()
  notifyStarted(exchange, parts)
  await loadWatchStream().streamWatch(started, sink, messages?.framed(framer) ?? framer, {
    timeoutMs,
    stopping: parts.stopping,
    meter: parts.instruments?.watch(target.kind),
  })
}

function notifyStarted(exchange: Exchange, { observers }: HttpParts): void {
  for (const observer of observers) observer.started?.(exchange)
}

/** Whether watch events are compressed: only those of a watch with initial events. */
const packsEvents = (exchange: Exchange, server: Server, options: ListOptions): boolean =>
  options.sendInitialEvents === true &&
  options.allowWatchBookmarks &&
  server.feature('WatchListCompression') &&
  acceptsGzip(exchange)

function streamOf(
  exchange: Exchange,
  { contentType }: { readonly contentType: string },
  isPacked: boolean,
): Sink {
  exchange.status = 200
  const headers = answerHeaders(exchange, contentType)
  if (!isPacked) return exchange.wire.stream(200, headers)
  const packing = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
  return gzipSink(exchange.wire.stream(200, { ...headers, ...packing }))
}
