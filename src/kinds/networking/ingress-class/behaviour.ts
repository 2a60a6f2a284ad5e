/** IngressClass: the controller that serves it, and where that finds its settings. */
import { parametersHaveScope } from '#kinds/stored-fields.ts'
import { releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, notSupported, required, tooLong } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { domainPrefixedPath, longerThan, nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkImmutable, each } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkReference } from '#kinds/networking/ingress/ingress-backend.ts'

const specPath = FieldPath.of('spec')
const controllerLengthMax = 250
const scopes = ['Cluster', 'Namespace']

function check(object: KubeObject, context: Context): FieldError[] {
  const controller: string = object.spec?.controller ?? ''
  const at = specPath.child('controller')
  return [
    ...(longerThan(controller, controllerLengthMax)
      ? [tooLong(at, controller, controllerLengthMax)]
      : []),
    ...domainPrefixedPath(controller, at),
    ...checkParameters(object.spec?.parameters, specPath.child('parameters'), context),
  ]
}

function checkParameters(
  parameters: Loose | undefined,
  path: FieldPath,
  context: Context,
): FieldError[] {
  if (!parameters) return []
  const errors = checkReference(parameters, path)
  const scope: string | undefined = parameters.scope ?? undefined
  const namespace: string | undefined = parameters.namespace ?? undefined
  if (scope === undefined && context.feature('IngressClassNamespacedParams')) {
    return [...errors, required(path.child('scope'))]
  }
  if (scope === undefined && namespace === undefined) return errors
  const at = path.child('namespace')
  if (scope === undefined || !scopes.includes(scope)) {
    errors.push(notSupported(path.child('scope'), scope ?? '', scopes))
  } else if (scope === 'Cluster') {
    if (namespace !== undefined) {
      errors.push(forbidden(at, "`parameters.scope` is set to 'Cluster'"))
    }
  } else if (namespace === undefined) {
    errors.push(required(at, "`parameters.scope` is set to 'Namespace'"))
  } else {
    errors.push(...each(at, namespace, nameIsDnsLabel(namespace, false)))
  }
  return errors
}

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const used = typeof old?.spec?.parameters?.scope === 'string'
  if (context.feature('IngressClassNamespacedParams') || used || !next.spec?.parameters) return
  // A scope is always written from the release on that has it.
  if (releaseOf(context.release).has(parametersHaveScope)) next.spec.parameters.scope = null
  delete next.spec.parameters.namespace
}

export const ingressClassBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropDisabled(object, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    raiseGeneration(next, old, ['spec'])
    dropDisabled(next, old, context)
  },
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...checkImmutable(
      next.spec?.controller ?? '',
      old.spec?.controller ?? '',
      specPath.child('controller'),
    ),
    ...checkMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, context),
  ],
}
