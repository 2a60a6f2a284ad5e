/**
 * Compiles the expressions of admission policies and the match conditions of webhooks. Each policy
 * has its own compiler, because an expression can use the variables that were added before it.
 *
 *   const compiler = new ExpressionCompiler(release, true)
 *   compiler.addVariable('max', "int(params.data.max)", options, 'stored')
 *   const { problem, program } = compiler.compile('object.spec.replicas <= variables.max',
 *     results.bool, options, 'stored')
 */
import { change, type Release } from '#api/releases/change.ts'
import {
  boolType,
  type CelType,
  type TypeProvider,
  isSameType,
  listOf,
  nullType,
  objectType,
  stringType,
  typeText,
} from '#cel/cel-type.ts'
import { compile, type Declarations, Issues } from '#cel/compile.ts'
import { jsonPatchFunctions } from '#cel/declarations/kubernetes.ts'
import {
  type CelEnvironment,
  celEnvironment,
  type EnvironmentKind,
  withFunctions,
} from '#cel/environment.ts'
import {
  findPatchField,
  findPatchType,
  jsonPatchType,
  makePatchValue,
  patchedObjectType,
} from '#cel/patch-types.ts'
import { PlanError } from '#cel/plan-error.ts'
import type { Program } from '#cel/program.ts'
import {
  isRequestType,
  requestFieldType,
  variablesType,
  variableType,
  variableTypes,
} from './variable-types.ts'

/** The allowed result types of an expression. An empty list allows any type. */
export type ResultTypes = readonly CelType[]

export const results = {
  anything: [],
  bool: [boolType],
  text: [stringType],
  textOrNull: [stringType, nullType],
  object: [patchedObjectType],
  jsonPatch: [listOf(jsonPatchType)],
} as const satisfies Record<string, ResultTypes>

export interface ExpressionOptions {
  readonly params: boolean
  readonly authorizer: boolean
  /** Whether the expression can construct Object and JSONPatch values. */
  readonly patches?: boolean
}

/** All variables of an expression, with object types if they are known. */
export interface KnownVariables {
  readonly variables: ReadonlyMap<string, CelType>
  /** The fields of these types. */
  readonly types: TypeProvider
}

export interface CompiledExpression {
  readonly text: string
  /** The compilation error; without one there is a program. */
  readonly problem?: string
  readonly program?: Program
  readonly type?: CelType
}

const namesFoundType = change('errors of admission expressions name the type they have', {
  since: 32,
})

const patchEnvironments = new WeakMap<CelEnvironment, CelEnvironment>()

function environmentFor(release: Release, kind: EnvironmentKind, patches: boolean): CelEnvironment {
  const plain = celEnvironment(release, kind)
  if (!patches) return plain
  let environment = patchEnvironments.get(plain)
  if (environment === undefined) {
    environment = withFunctions(plain, jsonPatchFunctions)
    patchEnvironments.set(plain, environment)
  }
  return environment
}

export class ExpressionCompiler {
  readonly #release: Release
  readonly #composes: boolean
  readonly #variables = new Map<string, CelType>()
  readonly #known: KnownVariables | undefined

  constructor(release: Release, composes: boolean, known?: KnownVariables) {
    this.#release = release
    this.#composes = composes
    this.#known = known
  }

  compile(
    text: string,
    allowed: ResultTypes,
    options: ExpressionOptions,
    kind: EnvironmentKind,
  ): CompiledExpression {
    const environment = environmentFor(this.#release, kind, options.patches === true)
    const compiled = compile(text, environment, this.#declarations(options))
    if (compiled instanceof Issues) return { text, problem: `compilation failed: ${compiled.text}` }
    const { type } = compiled
    if (allowed.length > 0 && !allowed.some((one) => isSameType(one, type)))
      return { text, problem: `${expected(allowed)}${this.#found(type)}` }
    try {
      return { text, type, program: compiled.program() }
    } catch (error) {
      if (!(error instanceof PlanError)) throw error
      return { text, problem: `program instantiation failed: ${error.message}` }
    }
  }

  /** The type error of an expression. Undefined if there is none. */
  typeProblem(text: string, options: ExpressionOptions): string | undefined {
    const environment = environmentFor(this.#release, 'stored', false)
    const compiled = compile(text, environment, this.#declarations(options))
    return compiled instanceof Issues ? compiled.text : undefined
  }

  /** A variable with an invalid expression still exists; its type is dyn. */
  addVariable(
    name: string,
    text: string,
    options: ExpressionOptions,
    kind: EnvironmentKind,
  ): CompiledExpression {
    const compiled = this.compile(text, results.anything, options, kind)
    this.#variables.set(name, variableType(compiled.type))
    return compiled
  }

  #found(type: CelType): string {
    return this.#release.has(namesFoundType) ? ` but got ${typeText(type)}` : ''
  }

  #declarations({ params, authorizer, patches = false }: ExpressionOptions): Declarations {
    const composes = this.#composes
    const known = this.#known
    return {
      variables: known?.variables ?? variableTypes({ params, authorizer, composes }, this.#release),
      types: {
        findType: (name) =>
          known?.types.findType(name) ??
          (isRequestType(name) || (composes && name === variablesType.name)
            ? objectType(name)
            : patches
              ? findPatchType(name)
              : undefined),
        findField: (typeName, field) =>
          typeName === variablesType.name
            ? this.#variables.get(field)
            : (known?.types.findField(typeName, field) ??
              requestFieldType(typeName, field) ??
              (patches ? findPatchField(typeName, field) : undefined)),
      },
      ...(patches && { makeStruct: makePatchValue }),
    }
  }
}

function expected(allowed: ResultTypes): string {
  const names = allowed.map(typeText)
  return names.length === 1
    ? `must evaluate to ${names[0]}`
    : `must evaluate to one of [${names.join(' ')}]`
}
