/** ControllerRevision: what a set's template was once; its data never changes. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, type GoText, goStruct } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { immutableMessage, validateNonnegative } from '#api/object-meta-rules.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import {
  checkFinalizerNames,
  checkMetadata,
  checkMetadataUpdate,
} from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'

const dataPath = FieldPath.of('data')

function check(object: KubeObject): FieldError[] {
  const data = object.data ?? undefined
  return [
    ...(data === undefined ? [required(dataPath, 'data is mandatory')] : []),
    ...validateNonnegative(object.revision ?? 0, FieldPath.of('revision')),
  ]
}

/** Data as messages show it: the bytes it came in. */
function goUnknown(data: unknown): GoText | undefined {
  if (data === undefined || data === null) return undefined
  const bytes = [...Buffer.from(JSON.stringify(data))].map((byte) => `0x${byte.toString(16)}`)
  return asGo(
    goStruct('runtime.Unknown', [
      ['TypeMeta', 'runtime.TypeMeta{APIVersion:"", Kind:""}'],
      ['Raw', `[]uint8{${bytes.join(', ')}}`],
      ['ContentEncoding', '""'],
      ['ContentType', '"application/json"'],
    ]),
  )
}

export const controllerRevisionBehaviour: Behaviour = {
  validateCreate: (object) => [...checkFinalizerNames(object), ...check(object)],
  validateUpdate(next, old) {
    const errors = [
      ...checkMetadataUpdate(next, old),
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...check(next),
    ]
    if (sameJson(next.data, old.data)) return errors
    return [...errors, invalid(dataPath, goUnknown(next.data), immutableMessage)]
  },
}
