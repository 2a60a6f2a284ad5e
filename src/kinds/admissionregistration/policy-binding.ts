/** Bindings of admission policies: which policy, for which requests, with which parameters. */
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goStrings } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { each, repeats } from '#kinds/all-kinds/checks.ts'
import { checkPlainMetadata } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkMatchResources, checkMutatedOperations } from './match-resources.ts'
import { checkParamRef } from './params.ts'
import { withStaticNames } from './static-names.ts'

const path = FieldPath.of('spec')
const actions = ['Audit', 'Deny', 'Warn']

const spellsMatchResources = change('errors of policy bindings spell the field matchResources', {
  since: 32,
})
const hasActions = change('bindings of validating admission policies have actions', { since: 27 })

function check({ spec = {} }: KubeObject, release: Release, acts: boolean): FieldError[] {
  const { policyName = '', paramRef, matchResources }: Loose = spec
  const name = path.child('policyName')
  const field = release.has(spellsMatchResources) ? 'matchResources' : 'matchResouces'
  return [
    ...(policyName === ''
      ? [required(name)]
      : each(name, policyName, nameIsDnsSubdomain(policyName, false))),
    ...checkParamRef(paramRef, path.child('paramRef'), release),
    ...checkMatchResources(matchResources, path.child(field), release),
    ...(acts ? [] : checkMutatedOperations(matchResources, path.child('matchResources'))),
    ...(acts && release.has(hasActions) ? checkActions(spec.validationActions ?? []) : []),
  ]
}

const deniesAndWarns =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'

function checkActions(given: string[]): FieldError[] {
  const at = path.child('validationActions')
  const isRepeated = repeats(given)
  const errors = given.flatMap((action, i) => [
    ...(actions.includes(action) ? [] : [notSupported(at.index(i), action, actions)]),
    ...(isRepeated[i] ? [duplicate(at.index(i), action)] : []),
  ])
  if (given.includes('Deny') && given.includes('Warn')) {
    const shown = asGo(goStrings(given, 'admissionregistration.ValidationAction'))
    errors.push(invalid(at, shown, deniesAndWarns))
  }
  if (given.length === 0) errors.push(required(at, 'at least one validation action is required'))
  return errors
}

/** `acts`: whether the binding has validationActions. */
export const bindingBehaviour = (acts: boolean): Behaviour => {
  const validate = (object: KubeObject, { release }: Context) =>
    check(object, releaseOf(release), acts)
  return withStaticNames({
    unconditionalUpdate: false,
    prepareForCreate(object) {
      object.metadata.generation = 1
    },
    prepareForUpdate: (next, old) => raiseGeneration(next, old, ['spec']),
    validateCreate: validate,
    validateUpdate: (next, _old, context) => [
      ...checkPlainMetadata(next, false, nameIsDnsSubdomain),
      ...validate(next, context),
    ],
  })
}
