/** /version: which release this server is. */
import type { PathHandler } from '#http/parts.ts'
import { send } from '#http/respond.ts'
import { documentShape } from '#http/shape.ts'
import type { VersionInfo } from '#discovery/version.ts'

export function versionPath(info: VersionInfo): PathHandler {
  const body = Buffer.from(`${JSON.stringify(info, null, 2)}`)
  return {
    matches: (path) => path === '/version' || path === '/version/',
    handle: (exchange) => send(exchange, 200, documentShape(exchange, 'json'), body),
  }
}
