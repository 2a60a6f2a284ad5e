/**
 * The compiled expressions of a MutatingAdmissionPolicy and their patches. A patch is an apply
 * configuration, which is merged as in server-side apply, or a JSON patch.
 */
import { goQuote } from '#api/go-syntax.ts'
import type { Json, KubeObject, Loose } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import { ApiError, internalError } from '#api/status-error.ts'
import { plainFault } from '#codec/go-json/plain-fault.ts'
import { misplacedTypes, NoJson, toJson, toProtoJson } from '#cel/to-json.ts'
import { ListValue, StructValue, typeName, type Value } from '#cel/values.ts'
import {
  type CompiledExpression,
  ExpressionCompiler,
  results,
} from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import { goTypeOf } from '#kinds/known-type.ts'
import type { Kind } from '#kinds/kind.ts'
import { settled, type TypeParts, type Versioned } from '#admission/webhook/versioned.ts'
import { mergeObjects } from '#patch/apply/merge.ts'
import { applyRules } from '#patch/apply/rules.ts'
import { typeProblems } from '#patch/apply/validate.ts'
import { applyJsonPatch, TestFailed } from '#patch/json-patch.ts'
import type { Type } from '#schema/type.ts'
import { atomicParts } from './atomic-parts.ts'
import { costBudget, Evaluation, type EvaluationScope } from './evaluation.ts'
import { compileConditions, compileVariables } from './validations.ts'

interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch'
  readonly expression: CompiledExpression
}

export interface CompiledMutations {
  readonly variables: ReadonlyMap<string, CompiledExpression>
  readonly conditions: readonly CompiledExpression[]
  readonly mutations: readonly Mutation[]
  readonly reinvocable: boolean
}

export function compileMutations(spec: Loose, release: Release): CompiledMutations {
  const compiler = new ExpressionCompiler(release, true)
  const variables = compileVariables(spec, compiler)
  const params = Boolean(spec.paramKind)
  const options = { params, authorizer: true, patches: true }
  const compile = (text: string, allowed: (typeof results)['object' | 'jsonPatch']) =>
    compiler.compile(text, allowed, options, 'stored')
  return {
    variables,
    conditions: compileConditions(spec.matchConditions, params, compiler),
    mutations: ((spec.mutations ?? []) as Loose[]).map(
      (one): Mutation =>
        one.patchType === 'JSONPatch'
          ? { type: 'JSONPatch', expression: compile(one.jsonPatch.expression, results.jsonPatch) }
          : {
              type: 'ApplyConfiguration',
              expression: compile(one.applyConfiguration.expression, results.object),
            },
    ),
    reinvocable: spec.reinvocationPolicy === 'IfNeeded',
  }
}

/** A mutation that cannot be applied; the failure policy decides about the request. */
export class MutationFailed extends Error {}

/**
 * Returns the object after one mutation, in the version of the policy. `requested`: in the version
 * of the request. Throws MutationFailed, OutOfBudget or PendingDecision, and an ApiError if the
 * result is no object of the kind.
 */
export function mutated(
  parts: TypeParts,
  { type, expression }: Mutation,
  scope: EvaluationScope,
  versioned: Versioned,
  requested: Kind,
): KubeObject {
  if (expression.program === undefined) throw new MutationFailed(expression.problem)
  const result = new Evaluation(scope, costBudget).evaluate(expression)
  if ('error' in result) throw new MutationFailed(result.error)
  const object = versioned.object as unknown as Json
  const patched =
    type === 'JSONPatch'
      ? patchedObject(object, operationsOf(result.value), parts.release)
      : appliedObject(parts, object, result.value, versioned)
  if (patched === object) {
    requireRequestedVersion(versioned, object as Loose, requested)
    return versioned.object as KubeObject
  }
  if (type === 'JSONPatch') requireKnownFields(versioned, patched)
  const next = settledOrFailed(parts, versioned, patched as Loose, type)
  requireRequestedVersion(versioned, next, requested)
  return next
}

/**
 * The result has the version of the policy. kube-apiserver converts it to that of the request, and
 * has no conversion between two versions of a built-in kind.
 */
function requireRequestedVersion({ own }: Versioned, next: Loose, requested: Kind): void {
  if (next.apiVersion === requested.apiVersion || requested.decoding === 'free') return
  if (own !== undefined) return
  const [from, to] = [next, requested].map((one) => goTypeOf(one.apiVersion, one.kind))
  throw new MutationFailed(`converting (${from}) to (${to}): unknown conversion`)
}

/** Values of the right type that cannot be parsed, such as bytes that are not base64. */
function settledOrFailed(
  parts: TypeParts,
  versioned: Versioned,
  patched: Loose,
  type: Mutation['type'],
): KubeObject {
  const { group, version, kind, type: goType } = versioned.kind
  try {
    return settled(parts, versioned, patched, [])
  } catch (error) {
    if (error instanceof ApiError) throw error
    const why = (error as Error).message
    if (type === 'JSONPatch') throw internalError(why)
    const fault = plainFault(goType, patched)
    throw new MutationFailed(
      `unable to convert unstructured object to ${group}/${version}, Kind=${kind}: ${fault === undefined ? why : asConverted(fault)}`,
    )
  }
}

/** The error of a value, as kube-apiserver's converter for untyped values reports it. */
function asConverted(fault: string): string {
  const [, goType] = /^json: cannot unmarshal number .* of type (\w+)$/.exec(fault) ?? []
  if (goType !== undefined) return `cannot convert float64 to ${goType}`
  return fault.startsWith('illegal base64') ? `error decoding from json: ${fault}` : fault
}

function appliedObject(parts: TypeParts, live: Json, value: Value, versioned: Versioned): Json {
  if (!(value instanceof StructValue))
    throw new MutationFailed(
      `unsupported return type from ApplyConfiguration expression: ${typeName(value)}`,
    )
  const misplaced = misplacedTypes(value)
  if (misplaced !== undefined) throw new MutationFailed(`type mismatch: ${misplaced}`)
  const { apiVersion, kind } = live as Loose
  const config = { ...(jsonOf(value) as Loose), apiVersion, kind } as Json
  const type = typeOf(parts, versioned)
  const rules = applyRules(parts.release)
  const fail = (why: string) => new MutationFailed(`error applying patch: ${why}`)
  const problems = typeProblems(type, config, rules)
  if (problems !== undefined)
    throw fail(`failed to convert patch object to typed object: ${problems}`)
  const atomic = atomicParts(type, config)
  if (atomic.length > 0)
    throw fail(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    )
  return mergeObjects(type, live, config, rules)
}

function typeOf({ types }: TypeParts, { kind, own }: Versioned): Type {
  const named = own && types.typeNamed(own.apiVersion, own.kind)
  return named ?? kind.type
}

/** The mutation fails if a value has no JSON form. */
function jsonOf(value: Value): Json {
  try {
    return toJson(value)
  } catch (error) {
    if (error instanceof NoJson) throw new MutationFailed(error.message)
    throw error
  }
}

function operationsOf(value: Value): Json {
  if (!(value instanceof ListValue))
    throw new MutationFailed('type mismatch: JSONPatchType.expression should evaluate to array')
  return [...value].map(operationOf)
}

function operationOf(value: Value): Json {
  if (!(value instanceof StructValue) || value.typeName !== 'JSONPatch')
    throw new MutationFailed(
      'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
    )
  const text = (field: string) => (value.fields.get(field) as string | undefined) ?? ''
  const from = text('from')
  const operation = { op: text('op'), path: text('path'), ...(from !== '' && { from }) }
  const laid = value.fields.get('value')
  if (laid === undefined) return operation
  const misplaced = laid instanceof StructValue ? misplacedTypes(laid) : undefined
  if (misplaced !== undefined) throw new MutationFailed(`type mismatch: ${misplaced}`)
  try {
    return { ...operation, value: toProtoJson(laid) }
  } catch (error) {
    if (!(error instanceof NoJson)) throw error
    throw new MutationFailed(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`,
    )
  }
}

/**
 * Returns the same object if a `test` in the patch fails: the patch then does not apply, which is
 * no error.
 */
function patchedObject(object: Json, operations: Json, release: number): Json {
  try {
    return applyJsonPatch(object, operations, release)
  } catch (error) {
    const { cause } = error as Error
    if (cause instanceof TestFailed) return object
    throw new MutationFailed(
      `JSON Patch: ${cause instanceof Error ? cause.message : (error as Error).message}`,
    )
  }
}

/** JSON patches of built-in kinds may set only fields that the kind has. */
function requireKnownFields({ kind, own }: Versioned, patched: Json): void {
  if (kind.decoding === 'free' || own !== undefined) return
  let unknown: readonly string[]
  try {
    unknown = kind.conform(structuredClone(patched) as Loose).unknown
  } catch (error) {
    throw internalError(plainFault(kind.type, patched) ?? (error as Error).message)
  }
  if (unknown.length === 0) return
  const fields = unknown.map((field) => `unknown field ${goQuote(field)}`).join(', ')
  throw internalError(`strict decoding error: ${fields}`)
}
