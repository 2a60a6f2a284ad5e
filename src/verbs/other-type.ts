/**
 * A body that says it is of another type than its path takes: what the original says of it, which reads it as what it
 * says it is and then finds no way from there. Bodies of the right type never come here.
 */
import { versionOf } from '#api/api-version.ts'
import type { Loose } from '#api/object-meta.ts'
import { type ApiError, badRequest } from '#api/status-error.ts'
import { otherTypeFault, type TypeName } from './patch-type.ts'
import type { Server, WriteRequest } from './server.ts'

/** Protobuf has no text; what it holds is not looked into. */
const noText = Buffer.from('{}')

export function otherType(
  server: Server,
  wanted: TypeName,
  raw: Loose,
  request: WriteRequest,
): ApiError {
  const apiVersion = String(raw.apiVersion || wanted.apiVersion).replace(/^\//, '')
  const said = { apiVersion, kind: String(raw.kind || wanted.kind) }
  const fault = otherTypeFault(server, wanted, said, () => request.text?.() ?? noText)
  const version = versionOf(apiVersion)
  return badRequest(
    `${said.kind} in version "${version}" cannot be handled as a ${wanted.kind}: ${fault}`,
  )
}
