/**
 * Names that end in `.static.k8s.io`. They are reserved for objects in manifest files; the API
 * rejects them or warns.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

export const staticSuffix = '.static.k8s.io'
const gate = 'ManifestBasedAdmissionControlConfig'

const warnsOfStaticNames = change('admission configurations must not be named like manifests', {
  since: 36,
})

const reserved = `names ending with "${staticSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`

const isStatic = ({ metadata: { name = '' } }: KubeObject): boolean => name.endsWith(staticSuffix)

const warnings = (object: KubeObject, { release }: Context): string[] =>
  isStatic(object) && releaseOf(release).has(warnsOfStaticNames)
    ? [`metadata.name: ${reserved}`]
    : []

/**
 * A new object with a reserved name is rejected if the server reads manifests. Otherwise the client
 * gets a warning.
 */
export function withStaticNames(behaviour: Behaviour): Behaviour {
  const { validateCreate } = behaviour
  return {
    ...behaviour,
    validateCreate(object, context) {
      const errors: FieldError[] = validateCreate?.(object, context) ?? []
      if (!context.feature(gate) || !isStatic(object)) return errors
      const at = FieldPath.of('metadata', 'name')
      return [...errors, invalid(at, object.metadata.name, reserved)]
    },
    warningsOnCreate: (object, context) => (context.feature(gate) ? [] : warnings(object, context)),
    warningsOnUpdate: (next, _old, context) => warnings(next, context),
  }
}
