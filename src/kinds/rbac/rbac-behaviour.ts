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
  check: (object: KubeObject, release: number, old?: KubeObject) => FieldError[],
  checkChange: (next: KubeObject, old: KubeObject, release: number) => FieldError[] = () => [],
): Behaviour {
  const whole = (object: KubeObject, release: number, old: KubeObject) => [
    ...checkMetadata(object, namespaced, nameRule),
    ...check(object, release, old),
  ]
  return {
    nameRule,
    createOnUpdate: true,
    validateCreate: (object, { release }) => check(object, release),
    validateUpdate: (next, old, { release }) => [
      ...whole(next, release, old),
      ...whole(next, release, old),
      ...checkMetadataUpdate(next, old),
      ...checkChange(next, old, release),
    ],
  }
}
