/** MutatingAdmissionPolicy: patches that expressions make for the objects in matching requests. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import {
  ExpressionCompiler,
  results,
  type ResultTypes,
} from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import { checkMutatedOperations } from '#kinds/admissionregistration/match-resources.ts'
import {
  checkPolicyHead,
  checkVariables,
  PolicyWrite,
} from '#kinds/admissionregistration/policy-spec.ts'
import { withStaticNames } from '#kinds/admissionregistration/static-names.ts'
import { checkOneOf } from '#kinds/all-kinds/checks.ts'
import { checkPlainMetadata } from '#kinds/all-kinds/metadata.ts'
import { raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const specPath = FieldPath.of('spec')

const specOf = (object: KubeObject): Loose => object.spec ?? {}

function check(object: KubeObject, { release }: Context, old?: KubeObject): FieldError[] {
  const write = new PolicyWrite(specOf(object), old && specOf(old), releaseOf(release))
  const { spec } = write
  const compiler = new ExpressionCompiler(write.release, true)
  const mutations: Loose[] = spec.mutations ?? []
  const at = specPath.child('mutations')
  return [
    ...checkPolicyHead(
      write,
      specPath,
      checkMutatedOperations(spec.matchConstraints, specPath.child('matchConstraints')),
    ),
    ...checkVariables(write, compiler, specPath.child('variables')),
    ...(mutations.length === 0
      ? [required(at, 'mutations must contain at least one item')]
      : mutations.flatMap((one, i) => checkMutation(write, compiler, one, at.index(i)))),
    ...checkOneOf(
      spec.reinvocationPolicy,
      ['IfNeeded', 'Never'],
      specPath.child('reinvocationPolicy'),
    ),
  ]
}

interface PatchType {
  readonly field: string
  readonly result: ResultTypes
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  ApplyConfiguration: { field: 'applyConfiguration', result: results.object },
  JSONPatch: { field: 'jsonPatch', result: results.jsonPatch },
}

function checkMutation(
  { hasParams: params, stored }: PolicyWrite,
  compiler: ExpressionCompiler,
  mutation: Loose,
  path: FieldPath,
): FieldError[] {
  const type: string = mutation.patchType ?? ''
  const known = Object.keys(patchTypes)
  if (!known.includes(type)) return checkOneOf(type, known, path.child('patchType'))
  const { field, result } = patchTypes[type] as PatchType
  const errors: FieldError[] = []
  const patch: Loose | undefined = mutation[field] ?? undefined
  const place = path.child(field)
  if (patch === undefined)
    errors.push(required(place, `must be specified when patchType is ${type}`))
  else {
    const text: string = (patch.expression ?? '').trim()
    const at = place.child('expression')
    const options = { params, authorizer: true, patches: true }
    if (text === '') errors.push(required(at))
    else {
      const kind = stored.mutation(patch.expression)
      const { problem } = compiler.compile(text, result, options, kind)
      if (problem !== undefined) errors.push(invalid(at, text, problem))
    }
  }
  for (const { field: other } of Object.values(patchTypes)) {
    if (other === field || !mutation[other]) continue
    const detail = `must not be specified when patchType is ${type}`
    errors.push(invalid(path.child(other), `{${other}}`, detail))
  }
  return errors
}

export const mutatingAdmissionPolicyBehaviour: Behaviour = withStaticNames({
  unconditionalUpdate: false,
  prepareForCreate(object) {
    object.metadata.generation = 1
  },
  prepareForUpdate: (next, old) => raiseGeneration(next, old, ['spec']),
  validateCreate: (object, context) => check(object, context),
  validateUpdate: (next, old, context) => [
    ...checkPlainMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, context, old),
  ],
})
