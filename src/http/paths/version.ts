/** /version: the emulated release and the build of this server. */
import { pathNotFound } from '#api/status-error.ts'
import { ownBytes } from '#base/own-bytes.ts'
import type { VersionInfo } from '#discovery/version.ts'
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/response/respond.ts'
import { documentShape } from '#http/response/shape.ts'
import { requireGet } from './require-get.ts'

export function versionPath(info: VersionInfo): PathHandler {
  const body = ownBytes(JSON.stringify(info, null, 2))
  return {
    matches: (path) => path === '/version' || path.startsWith('/version/'),
    handle(exchange) {
      if (exchange.target.path.length > '/version/'.length) throw pathNotFound()
      requireGet(exchange)
      return send(exchange, 200, documentShape(exchange, 'json'), body)
    },
  }
}
