/** ControllerRevision: an earlier template of a set; its data never changes. */
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
import { change, releaseOf } from '#api/releases/change.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const dataPath = FieldPath.of('data')

const dataIsObject = change('data of controller revisions must be an object when it is created', {
  since: 31,
})

const check = (object: KubeObject, { release }: Context): FieldError[] => [
  ...(releaseOf(release).has(dataIsObject) ? [] : checkPresence(object)),
  ...validateNonnegative(object.revision ?? 0, FieldPath.of('revision')),
]

const isAbsent = ({ data }: KubeObject): boolean => data === undefined || data === null

const checkPresence = (object: KubeObject): FieldError[] =>
  isAbsent(object) ? [required(dataPath, 'data is mandatory')] : []

function checkData(object: KubeObject, { release }: Context): FieldError[] {
  if (!releaseOf(release).has(dataIsObject)) return []
  const isObject = typeof object.data === 'object' && !Array.isArray(object.data)
  if (isAbsent(object) || isObject) return checkPresence(object)
  return [required(dataPath, 'data must be a valid JSON object')]
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
    JSON.stringify(data),
  )
}

export const controllerRevisionBehaviour: Behaviour = {
  validateCreate: (object, context) => [
    ...checkFinalizerNames(object),
    ...check(object, context),
    ...checkData(object, context),
  ],
  validateUpdate(next, old, context) {
    const errors = [
      ...checkMetadataUpdate(next, old),
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...check(next, context),
    ]
    if (sameJson(next.data, old.data)) return errors
    return [...errors, invalid(dataPath, goUnknown(next.data), immutableMessage)]
  },
}
