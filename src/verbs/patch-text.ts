/**
 * Validates the text of a patch, independent of its object. Since 1.37 the text is checked first.
 * Since 1.23 a patch with field validation must also match the type of its kind.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { Json } from '#api/object-meta.ts'
import { badRequest } from '#api/status-error.ts'
import { loadLater } from '#base/load-later.ts'
import { decodeJson, JsonError } from '#codec/json.ts'
import { decodeYaml } from '#codec/yaml.ts'
import { YamlError } from '#codec/yaml-error.ts'
import { field, listOf, mapOf, scalar, structOf } from '#schema/make-type.ts'
import type { Type } from '#schema/type.ts'
import type { PatchRequest } from './server.ts'

const checksTextFirst = change('the text of a patch is checked before its object is read', {
  since: 37,
})
const checksShape = change('a patch with field validation is read by its own type', { since: 23 })

const loadFault = loadLater<typeof import('#codec/go-json/plain-fault.ts')>(
  import.meta.url,
  '#codec/go-json/plain-fault',
)

const anything: Type = { is: 'untyped' }
const anyMap = mapOf(anything)
const operations = listOf(
  structOf('handlers.jsonPatchOp', [
    field('op', scalar('string'), 1),
    field('path', scalar('string'), 2),
    field('from', scalar('string'), 3),
    field('value', anything, 4),
  ]),
)

/** Throws 400 if the text is not JSON, or not YAML for an apply configuration. */
export function requirePatchText({ patchType, patchBytes }: PatchRequest, release: number): void {
  if (!releaseOf(release).has(checksTextFirst)) return
  try {
    if (patchType === 'apply') decodeYaml(patchBytes)
    else decodeJson(patchBytes)
  } catch (error) {
    if (error instanceof YamlError) throw badRequest(`error encoding patch: ${error.message}`)
    if (error instanceof JsonError) throw badRequest('invalid JSON patch')
    throw error
  }
}

/** Throws 400 if the patch does not match the type of its kind and its fields are validated. */
export function requirePatchShape(
  { patchType, options }: PatchRequest,
  patch: Json,
  release: number,
): void {
  if (options.fieldValidation === 'Ignore' || !releaseOf(release).has(checksShape)) return
  const fault = loadFault().plainFault(patchType === 'json' ? operations : anyMap, patch)
  if (fault !== undefined) throw badRequest(`error decoding patch: ${fault}`)
}

/** The prefix of the error for an apply configuration that is not an object. */
export const configurationFault = (release: number): string =>
  releaseOf(release).has(checksTextFirst) ? 'error decoding patch' : 'error decoding YAML'

/** The prefix of the error for a configuration with a duplicate key. */
export const strictConfigurationFault = (release: number): string =>
  configurationFault(release).replace('decoding', 'strict decoding')
