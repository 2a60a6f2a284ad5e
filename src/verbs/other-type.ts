/**
 * The error for a body of another kind than that of its path: kube-apiserver decodes it as its own
 * type and then cannot convert it.
 */
import { versionOf } from '#api/api-version.ts'
import type { Loose } from '#api/object-meta.ts'
import { type ApiError, badRequest } from '#api/status-error.ts'
import { otherTypeFault, type TypeName } from './patch-type.ts'
import type { Server, WriteRequest } from './server.ts'

/** A protobuf body has no text, and its contents are not checked. */
const noText = Buffer.from('{}')

export function otherType(
  server: Server,
  wanted: TypeName,
  raw: Loose,
  request: WriteRequest,
): ApiError {
  const apiVersion = String(raw.apiVersion || wanted.apiVersion).replace(/^\//, '')
  const stated = { apiVersion, kind: String(raw.kind || wanted.kind) }
  const fault = otherTypeFault(server, wanted, stated, () => request.text?.() ?? noText)
  const version = versionOf(apiVersion)
  return badRequest(
    `${stated.kind} in version "${version}" cannot be handled as a ${wanted.kind}: ${fault}`,
  )
}
