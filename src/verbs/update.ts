/** PUT: replaces the whole object, for main resources and for subresources of the same kind. */
import { releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError } from '#api/status-error.ts'
import type { Answer } from './answer.ts'
import { decodeBody, lateTypeProblem, requireMatchingName, toHub } from './decode.ts'
import { rulesFor } from '#kinds/kind.ts'
import { dedupOwnerReferences } from './owner-references.ts'
import { claimFields } from './ownership.ts'
import type { Server, WriteRequest } from './server.ts'
import { missesBeforeAdmission, writeOver } from './write-over.ts'

export async function update(server: Server, request: WriteRequest): Promise<Answer> {
  const { kind } = request.target
  const { behaviour } = kind.resource
  let problem: ApiError | undefined
  const read = (): KubeObject => {
    try {
      return decodeBody(request, server)
    } catch (error) {
      if (kind.decoding === 'typed' || !(error instanceof ApiError)) throw error
      const raw = (request.body() ?? {}) as Loose
      problem = lateTypeProblem(kind, raw)
      if (problem === undefined) throw error
      const typed = { ...raw, kind: kind.kind, apiVersion: kind.apiVersion }
      return decodeBody({ ...request, body: () => typed }, server)
    }
  }
  const decode = async () => {
    const body = await toHub(kind, read())
    requireMatchingName(body, request, server.release)
    dedupOwnerReferences(server, body, request.warnings, false)
    return body
  }
  const checkedWithMetadata =
    request.target.subresource === '' && behaviour.versionCheckedWithMetadata === true
  // Each attempt decodes the body again, because the previous attempt has modified the object.
  let first: KubeObject | undefined = await decode()
  return writeOver(server, request, {
    uid: first.metadata.uid,
    creates: rulesFor(kind, request.target.subresource)?.createOnUpdate ?? false,
    admitsMissing: !releaseOf(server.release).has(missesBeforeAdmission) && !checkedWithMetadata,
    unconditional: behaviour.unconditionalUpdate ?? true,
    versionCheckedWithMetadata: checkedWithMetadata,
    // An update of the status may name the wrong kind, but not the wrong version.
    problem: request.target.subresource === '' || problem?.code === 500 ? problem : undefined,
    async make(live) {
      const next = first ?? (await decode())
      first = undefined
      await claimFields(server, request, next, live)
      return next
    },
  })
}
