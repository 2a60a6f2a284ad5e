/**
 * PATCH: a change described by its difference. The patch is applied to the version the request speaks; the result goes
 * through everything an update goes through. A lost race is tried again unless the patch names a resourceVersion.
 */
import { invalid } from '#api/field-error.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import { ApiError, badRequest, invalidObject, notFound } from '#api/status-error.ts'
import { decodeJson, JsonError } from '#codec/json.ts'
import { applyJsonPatch } from '#patch/json-patch.ts'
import { applyMergePatch } from '#patch/merge-patch.ts'
import { applyStrategicMerge } from '#patch/strategic-merge.ts'
import type { Answer } from './answer.ts'
import { apply } from './apply.ts'
import { fromHub, requireMatchingName, toHub } from './decode.ts'
import { claimFields } from './ownership.ts'
import type { Server, WriteRequest } from './server.ts'
import { writeOver } from './write-over.ts'

/** Races lost before the client is told, as in the original. */
const patchRetriesMax = 5

export interface PatchRequest extends WriteRequest {
  readonly patchType: 'json' | 'merge' | 'strategic' | 'apply'
  readonly patchBytes: Buffer
}

export async function patch(server: Server, request: PatchRequest): Promise<Answer> {
  if (request.patchType === 'apply') return apply(server, request)
  const { kind, name } = request.target
  const { behaviour } = kind.resource
  return writeOver(server, request, {
    creates: false,
    unconditional: behaviour.unconditionalUpdate ?? true,
    retries: patchRetriesMax,
    async make(live) {
      if (live === undefined) throw notFound(kind, name)
      const before = await fromHub(kind, structuredClone(live))
      before.kind = kind.kind
      before.apiVersion = kind.apiVersion
      const next = await toHub(kind, patched(request, before))
      requireMatchingName(next, request)
      await claimFields(server, request, next, live)
      return next
    },
  })
}

/** The patched object, canonical and defaulted. */
function patched(request: PatchRequest, before: KubeObject): KubeObject {
  const { kind } = request.target
  const raw = rawPatched(request, before)
  let object: KubeObject
  try {
    if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
      throw badRequest('the patched value is not an object')
    }
    requireSameType(request, raw as Loose)
    const conformed = kind.conform(raw as Loose)
    object = conformed.object
    reportUnknown(request, conformed.unknown)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400 || error.message.startsWith('strict')) throw error
    throw invalidObject({ group: '', kind: '' }, '', [
      invalid('patch', JSON.stringify(raw), error.message),
    ])
  }
  kind.applyDefaults(object)
  return object
}

function rawPatched(request: PatchRequest, before: KubeObject): Json {
  const document = before as unknown as Json
  switch (request.patchType) {
    case 'json':
      return applyJsonPatch(document, request.patchBytes)
    case 'merge':
      return applyMergePatch(document, request.patchBytes)
    default:
      return applyStrategicMerge(request.target.kind.type, document, strategicBody(request.patchBytes))
  }
}

function strategicBody(bytes: Buffer): Json {
  try {
    return decodeJson(bytes)
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(error.message)
    throw error
  }
}

function requireSameType({ target: { kind } }: PatchRequest, raw: Loose): void {
  if (raw.kind === kind.kind && raw.apiVersion === kind.apiVersion) return
  throw badRequest(
    `${String(raw.kind ?? '')} in version "${String(raw.apiVersion ?? '')}" cannot be handled as a ${kind.kind}`,
  )
}

function reportUnknown({ options, warnings }: PatchRequest, unknown: string[]): void {
  if (unknown.length === 0 || options.fieldValidation === 'Ignore') return
  const said = unknown.map((path) => `unknown field "${path}"`)
  if (options.fieldValidation === 'Strict') throw badRequest(`strict decoding error: ${said.join(', ')}`)
  warnings.push(...said)
}
