/**
 * Common behaviour of roles and bindings: names are URL path segments, a PUT can create the object,
 * and an update is validated twice.
 */
import type { FieldError } from '#api/field-error.ts'
import { pathSegmentName } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'

const nameRule = (name: string): string[] => pathSegmentName(name)

/**
 * An update runs the whole check twice, as in kube-apiserver: each error is reported twice.
 * `checkChange` comes after.
 */
export function checkedTwice(
  namespaced: boolean,
  check: (object: KubeObject) => FieldError[],
  checkChange: (next: KubeObject, old: KubeObject, release: number) => FieldError[] = () => [],
): Behaviour {
  const whole = (object: KubeObject) => [
    ...checkMetadata(object, namespaced, nameRule),
    ...check(object),
  ]
  return {
    nameRule,
    createOnUpdate: true,
    validateCreate: check,
    validateUpdate: (next, old, { release }) => [
      ...whole(next),
      ...whole(next),
      ...checkMetadataUpdate(next, old),
      ...checkChange(next, old, release),
    ],
  }
}
