/** Runs a case of CEL's conformance tests against the engine. */
import type { CheckedExpr, Expr } from './ast.ts'
import {
  boolType,
  bytesType,
  type CelType,
  declare,
  doubleType,
  durationType,
  dynType,
  errorType,
  type FunctionDeclaration,
  formatType,
  intType,
  listOf,
  mapOf,
  member,
  nullType,
  objectType,
  opaqueType,
  overload,
  stringType,
  timestampType,
  typeOf,
  typeParam,
  uintType,
  wrapperOf,
} from './cel-type.ts'
import { type CheckResult, check } from './check/check.ts'
import { type CheckEnvironment, mergeFunctions } from './check/declared-names.ts'
import { ArrayList, mapOfEntries } from './collections.ts'
import { mapInsertFunctions } from './declarations/collections.ts'
import { optionalFunctions } from './declarations/optional.ts'
import { crossTypeComparison, standardFunctions, standardTypes } from './declarations/standard.ts'
import { stringFormatFunctions, stringFunctions } from './declarations/text.ts'
import { equal } from './equality.ts'
import { implementations } from './functions/implementations.ts'
import { preparedPatterns } from './functions/prepared-patterns.ts'
import { singleImplementations } from './functions/standard.ts'
import { optionalMacros, standardMacros, twoVariableMacros } from './parse/macros.ts'
import { macrosByKey, parse } from './parse/parse.ts'
import { PlanError } from './plan-error.ts'
import { compileProgram } from './program.ts'
import { showValue } from './show-value.ts'
import type { SpecCase } from './spec-cases.fixture.ts'
import {
  bindMacro,
  blockVariables,
  moreFunctions,
  moreImplementations,
  moreMacros,
  withoutBlocks,
} from './spec-libraries.fixture.ts'
import {
  enumFunctions,
  enumImplementations,
  makeMessage,
  messageTypes,
  ownTestTypes,
  readMessage,
} from './spec-messages.fixture.ts'
import { CelError, isError, TypeValue, typeName, Uint, type Value } from './values.ts'

interface TypeJson {
  readonly primitive?: string
  readonly wrapper?: string
  readonly wellKnown?: string
  readonly listType?: { readonly elemType: TypeJson }
  readonly mapType?: { readonly keyType: TypeJson; readonly valueType: TypeJson }
  readonly messageType?: string
  readonly typeParam?: string
  readonly type?: TypeJson
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly TypeJson[] }
  readonly error?: unknown
  readonly null?: unknown
  readonly dyn?: unknown
}

interface Declaration {
  readonly name: string
  readonly ident?: { readonly type: TypeJson }
  readonly function?: {
    readonly overloads: readonly {
      readonly overloadId: string
      readonly params?: readonly TypeJson[]
      readonly resultType: TypeJson
      readonly isInstanceFunction?: boolean
    }[]
  }
}

const primitives: Readonly<Record<string, CelType>> = {
  BOOL: boolType,
  BYTES: bytesType,
  DOUBLE: doubleType,
  INT64: intType,
  STRING: stringType,
  UINT64: uintType,
}

function readType(json: TypeJson): CelType {
  if (json.primitive !== undefined) return primitives[json.primitive]!
  if (json.wrapper !== undefined) return wrapperOf(primitives[json.wrapper]!)
  if (json.wellKnown !== undefined) {
    const { ANY, DURATION, TIMESTAMP } = {
      ANY: objectType('google.protobuf.Any'),
      DURATION: durationType,
      TIMESTAMP: timestampType,
    }
    return json.wellKnown === 'ANY' ? ANY : json.wellKnown === 'DURATION' ? DURATION : TIMESTAMP
  }
  if (json.listType !== undefined) return listOf(readType(json.listType.elemType))
  if (json.mapType !== undefined)
    return mapOf(readType(json.mapType.keyType), readType(json.mapType.valueType))
  if (json.messageType !== undefined) return objectType(json.messageType)
  if (json.typeParam !== undefined) return typeParam(json.typeParam)
  if (json.abstractType !== undefined)
    return opaqueType(
      json.abstractType.name,
      ...(json.abstractType.parameterTypes ?? []).map(readType),
    )
  if (json.type !== undefined) return typeOf(readType(json.type))
  if ('null' in json) return nullType
  return 'error' in json ? errorType : dynType
}

interface ValueJson {
  readonly [kind: string]: unknown
}

const readNumber = (json: unknown): number =>
  json === 'Infinity' ? Infinity : json === '-Infinity' ? -Infinity : Number(json)

export function readValue(json: ValueJson): Value {
  const [[kind, value]] = Object.entries(json) as [[string, unknown]]
  switch (kind) {
    case 'int64Value':
      return BigInt(value as string)
    case 'uint64Value':
      return new Uint(BigInt(value as string))
    case 'doubleValue':
      return readNumber(value)
    case 'bytesValue':
      return new Uint8Array(Buffer.from(value as string, 'base64'))
    case 'objectValue':
      return readMessage(value)
    case 'typeValue':
      return new TypeValue(value as string)
    case 'enumValue':
      return BigInt((value as { value?: number }).value ?? 0)
    case 'listValue':
      return new ArrayList(((value as { values?: ValueJson[] }).values ?? []).map(readValue))
    case 'mapValue': {
      const { entries = [] } = value as { entries?: { key: ValueJson; value: ValueJson }[] }
      return mapOfEntries(entries.map((entry) => [readValue(entry.key), readValue(entry.value)]))
    }
  }
  return value as Value
}

const declaredTypes = [...standardTypes, opaqueType('optional_type')]
const types = new Map(declaredTypes.map((type) => [type.name, type]))
const more = [moreFunctions, optionalFunctions, stringFunctions, stringFormatFunctions]
const functions = mergeFunctions(standardFunctions, mapInsertFunctions, enumFunctions, ...more)

/** What the declarations of a case add to the environment. */
export function environmentOf(
  original: SpecCase['original'],
  provider = messageTypes,
): CheckEnvironment {
  const declared = (original.typeEnv ?? []) as readonly Declaration[]
  const added = declared.flatMap(({ name, function: declaration }): FunctionDeclaration[] => {
    if (declaration === undefined) return []
    const overloads = declaration.overloads.map((one) => ({
      id: one.overloadId,
      member: one.isInstanceFunction === true,
      params: (one.params ?? []).map(readType),
      result: readType(one.resultType),
    }))
    return [{ name, overloads }]
  })
  const variables = new Map(blockVariables)
  for (const { name, ident } of declared)
    if (ident !== undefined) variables.set(name, readType(ident.type))
  return {
    container: original.container ?? '',
    variables,
    functions: added.length === 0 ? functions : mergeFunctions([...functions.values()], added),
    provider: {
      findType: (name) => types.get(name) ?? provider.findType(name),
      findField: provider.findField,
      findEnum: (name) => provider.findEnum?.(name),
    },
    homogeneousLiterals: false,
    isDisabled: ({ id }) => crossTypeComparison.test(id),
  }
}

/** The names that cel-go's tests of the checker declare. */
const namesOfChecking = {
  variables: new Map([
    ['is', stringType],
    ['ii', intType],
    ['iu', uintType],
    ['iz', boolType],
    ['id', doubleType],
    ['ix', nullType],
    ['ib', bytesType],
  ]),
  functions: [
    declare('fg_s', overload('fg_s_0', [], stringType)),
    declare('fi_s_s', member('fi_s_s_0', [stringType], stringType)),
  ],
}

/** The environment of a case of cel-go's tests of the checker. */
export function checkingEnvironment(original: SpecCase['original']): CheckEnvironment {
  const environment = environmentOf(original, ownTestTypes)
  const declared = [...environment.functions.values()]
  return {
    ...environment,
    variables: new Map([...namesOfChecking.variables, ...environment.variables]),
    functions: mergeFunctions(declared, namesOfChecking.functions),
  }
}

const existsOneMacros = standardMacros
  .filter(({ name }) => name === 'exists_one')
  .map((macro) => ({ ...macro, name: 'existsOne' }))
const options = {
  macros: macrosByKey(
    standardMacros,
    existsOneMacros,
    twoVariableMacros,
    optionalMacros,
    moreMacros,
  ),
  optionalSyntax: true,
  escapedIdentifiers: true,
}
/** The options of the cases that are not conformance tests. */
export const plainOptions = {
  macros: macrosByKey(standardMacros, [bindMacro]),
  optionalSyntax: false,
  escapedIdentifiers: false,
}
const withoutMacros = { ...options, macros: macrosByKey() }

/** The checked tree of a case, or the errors of the parser or checker. */
export function checkCase(
  { original }: SpecCase,
  environment = environmentOf(original),
  parsing = options,
): { readonly errors: string } | Extract<CheckResult, { checked: unknown }> {
  const result = parse(original.expr, original.disableMacros === true ? withoutMacros : parsing)
  if ('errors' in result) return { errors: result.source.format(result.errors) }
  const checked = check(result.parsed, environment)
  return 'errors' in checked ? { errors: result.source.format(checked.errors) } : checked
}

/** cel-go runs some cases without a check: names are found when the expression runs. */
function uncheckedTree(original: SpecCase['original']): CheckedExpr {
  const result = parse(original.expr, options)
  if ('errors' in result) throw new Error(result.source.format(result.errors))
  return { ...result.parsed, types: new Map(), references: new Map() }
}

const allImplementations = new Map([
  ...implementations,
  ...moreImplementations,
  ...enumImplementations,
])

/**
 * What an unchecked name means: a variable, a type or a constant, in the container or outside of
 * it.
 */
function findUnchecked(
  name: string,
  container: string,
  bound: (name: string) => Value | undefined,
) {
  const candidates = [name]
  for (
    let outer = container;
    outer !== '';
    outer = outer.slice(0, Math.max(0, outer.lastIndexOf('.')))
  )
    candidates.splice(-1, 0, `${outer}.${name}`)
  for (const candidate of candidates) {
    const type = types.get(candidate) ?? messageTypes.findType(candidate)
    const found = bound(candidate) ?? messageTypes.findEnum?.(candidate)
    if (found !== undefined) return found
    if (type !== undefined) return new TypeValue(type.name)
  }
  return undefined
}

function evaluateCase({ original }: SpecCase, checked: CheckedExpr, isChecked: boolean): Value {
  const bound = new Map<string, Value>()
  for (const [name, { value }] of Object.entries(original.bindings ?? {}) as [
    string,
    { value: ValueJson },
  ][])
    bound.set(name, readValue(value))
  const find = (name: string) => bound.get(name)
  const container = original.container ?? ''
  const known = isChecked ? environmentOf(original).functions : functions
  try {
    const program = compileProgram(withoutBlocks(checked), {
      namesTypes: true,
      showsListSize: false,
      overloadsOf: (name) => known.get(name)?.overloads ?? [],
      implementations: allImplementations,
      singleImplementations,
      prepared: preparedPatterns,
      makeStruct: (name, fields) =>
        makeMessage(messageTypes.findType(name) ? name : `${container}.${name}`, fields),
    })
    const all = { find: (name: string) => findUnchecked(name, container, find) }
    return program.evaluate(isChecked ? { find } : all).value
  } catch (error) {
    if (error instanceof PlanError) return new CelError(error.message)
    throw error
  }
}

const isSame = (a: Value, b: Value): boolean =>
  (Number.isNaN(a) && Number.isNaN(b)) || (typeName(a) === typeName(b) && equal(a, b) === true)

const show = (value: Value): string => `${typeName(value)} ${showValue(value)}`

/** What is wrong with the outcome of a case; undefined if it is as wanted. */
export function problemOf(one: SpecCase): string | undefined {
  const { original } = one
  const wanted = original.typedResult as { result?: ValueJson; deducedType: TypeJson } | undefined
  const fails = original.evalError !== undefined
  const checked = original.disableCheck === true ? undefined : checkCase(one)
  if (checked !== undefined && 'errors' in checked) return fails ? undefined : checked.errors
  if (wanted !== undefined) {
    const [found, type] = [formatType(checked!.type), formatType(readType(wanted.deducedType))]
    if (found !== type) return `type ${found}, not ${type}`
  }
  if (original.checkOnly === true) return undefined
  const tree = checked?.checked ?? uncheckedTree(original)
  const value = evaluateCase(one, tree, checked !== undefined)
  if (fails) return isError(value) ? undefined : `${show(value)}, not an error`
  const expected = readValue((original.value ?? wanted?.result ?? { boolValue: true }) as ValueJson)
  return isSame(value, expected) ? undefined : `${show(value)}, not ${show(expected)}`
}

/** The tree with types and references, as cel-go's tests write it. */
export const adornment =
  (result: Extract<CheckResult, { checked: unknown }>) =>
  (expr: Expr): string => {
    const type = result.checked.types.get(expr.id)
    const reference = result.checked.references.get(expr.id)
    let text = type === undefined ? '' : `~${formatType(type)}`
    if (reference?.kind === 'ident') text += `^${reference.name}`
    if (reference?.kind === 'function') text += `^${[...reference.overloadIds].sort().join('|')}`
    return text
  }
