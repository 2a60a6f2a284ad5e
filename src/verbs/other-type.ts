/**
 * A body that says it is of another type than its path takes: what the original says of it, which reads it as what it
 * says it is and then finds no way from there. Bodies of the right type never come here.
 */
import { versionOf } from '#api/api-version.ts'
import type { Loose } from '#api/object-meta.ts'
import { type ApiError, badRequest } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import { otherTypeFault } from './patch-type.ts'
import type { Server, WriteRequest } from './server.ts'

/** Protobuf has no text; what it holds is not looked into. */
const noText = Buffer.from('{}')

export function otherType(server: Server, kind: Kind, raw: Loose, request: WriteRequest): ApiError {
  const apiVersion = String(raw.apiVersion || kind.apiVersion).replace(/^\//, '')
  const said = { apiVersion, kind: String(raw.kind || kind.kind) }
  const fault = otherTypeFault(server, kind, said, () => request.text?.() ?? noText)
  const version = versionOf(apiVersion)
  return badRequest(
    `${said.kind} in version "${version}" cannot be handled as a ${kind.kind}: ${fault}`,
  )
}
