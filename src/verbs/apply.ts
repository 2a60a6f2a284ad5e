/**
 * PATCH with an apply configuration: the fields that its manager specifies, merged into the
 * existing object by field ownership. A missing object is created.
 */
import { releaseOf } from '#api/releases/change.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { type ApiError, badRequest, conflict } from '#api/status-error.ts'
import { decodeYaml, repeatedKeys } from '#codec/yaml.ts'
import { YamlError } from '#codec/yaml-error.ts'
import { type Kind, rulesFor } from '#kinds/kind.ts'
import { applyConflict } from '#patch/apply/conflict.ts'
import { applyConfiguration } from '#patch/apply/field-manager.ts'
import type { Answer } from './answer.ts'
import { fromHub, requireMatchingName, toHub } from './decode.ts'
import { withOwners } from './ownership.ts'
import { configurationFault, strictConfigurationFault } from './patch-text.ts'
import { type Server, timestamp, type PatchRequest } from './server.ts'
import { requireConvertible, Unconvertible } from './unconvertible.ts'
import { missesBeforeAdmission, raceTriesMax, writeOver } from './write-over.ts'

export async function apply(server: Server, request: PatchRequest): Promise<Answer> {
  const { kind, subresource } = request.target
  const config = configurationOf(request.patchBytes, server.release)
  const who = {
    manager: request.options.fieldManager,
    subresource,
    now: timestamp(server.clock),
    force: request.options.force,
  }
  let merged = true
  return writeOver(server, request, {
    changesOwnersAlone: () => !merged,
    creates: subresource === '' || (rulesFor(kind, subresource)?.createOnUpdate ?? false),
    admitsMissing: !releaseOf(server.release).has(missesBeforeAdmission),
    retries: raceTriesMax,
    unconditional: kind.resource.behaviour.unconditionalUpdate ?? true,
    async make(live) {
      const before = live && (await versioned(request, live))
      const outcome = await withOwners(server, kind, (of) =>
        applyConfiguration(of, before, config, who),
      )
      if ('conflicts' in outcome) throw applyConflict(outcome.conflicts)
      reportRepeatedKeys(request, server.release)
      merged = outcome.merged
      const next = await toHub(
        kind,
        outcome.merged ? complete(kind, outcome.object) : outcome.object,
      )
      if (live === undefined && next.metadata.uid) throw uidWithoutObject(request, next)
      // Only typed kinds write creationTimestamp as null.
      if (next.metadata.creationTimestamp === null && kind.decoding === 'free')
        delete next.metadata.creationTimestamp
      requireMatchingName(next, request, server.release)
      return next
    },
  })
}

/** Duplicate keys of the configuration, which are reported after field ownership is computed. */
function reportRepeatedKeys({ options, patchBytes, warnings }: PatchRequest, release: number) {
  if (options.fieldValidation === 'Ignore') return
  const lines = repeatedKeys(patchBytes)
  if (lines.length === 0) return
  if (options.fieldValidation === 'Warn') {
    for (const line of lines) if (!warnings.includes(line)) warnings.push(line)
    return
  }
  const why = ['yaml: unmarshal errors:', ...lines].join('\n  ')
  throw badRequest(`${strictConfigurationFault(release)}: error converting YAML to JSON: ${why}`)
}

function complete(kind: Kind, merged: KubeObject): KubeObject {
  const { object } = kind.conformMerged?.(merged) ?? kind.conform(merged)
  kind.applyDefaults(object)
  try {
    requireConvertible(kind, object)
  } catch (error) {
    throw error instanceof Unconvertible
      ? error.asFailure('failed to convert to unversioned: ')
      : error
  }
  return object
}

/** The object is a copy, so it may be changed. */
async function versioned(
  { target: { kind } }: PatchRequest,
  live: KubeObject,
): Promise<KubeObject> {
  const object = await fromHub(kind, live)
  object.kind = kind.kind
  object.apiVersion = kind.apiVersion
  return object
}

function uidWithoutObject({ target }: PatchRequest, next: KubeObject): ApiError {
  return conflict(
    target.kind,
    target.name,
    `uid mismatch: the provided object specified uid ${next.metadata.uid}, and no existing object was found`,
  )
}

const notMap = (what: string) =>
  `json: cannot unmarshal ${what} into Go value of type map[string]interface {}`

export function configurationOf(bytes: Buffer, release: number): KubeObject {
  const fault = configurationFault(release)
  let value: unknown
  try {
    value = decodeYaml(bytes)
  } catch (error) {
    if (error instanceof YamlError) {
      throw badRequest(`${fault}: error converting YAML to JSON: ${error.message}`)
    }
    throw error
  }
  if (value === null) return {} as KubeObject
  if (typeof value !== 'object' || Array.isArray(value)) {
    const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    throw badRequest(`${fault}: error unmarshaling JSON: while decoding JSON: ${notMap(what)}`)
  }
  return value as Loose as KubeObject
}
