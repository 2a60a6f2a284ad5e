/**
 * Checks the types of an expression: resolves names and overloads, gives each node a type, and
 * reports errors in cel-go's words. The checked tree has qualified names as single identifiers:
 * `a.b` becomes one node if `a.b` is declared.
 */
import type {
  Call,
  CheckedExpr,
  Comprehension,
  Expr,
  ListExpr,
  MapExpr,
  ParsedExpr,
  Reference,
  Select,
  StructExpr,
} from '#cel/ast.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  dynType,
  errorType,
  type FunctionDeclaration,
  formatType,
  intType,
  isSameType,
  listOf,
  mapOf,
  nullType,
  opaqueType,
  optionalOf,
  stringType,
  typeParam,
  uintType,
} from '#cel/cel-type.ts'
import type { CelError } from '#cel/source.ts'
import { type CheckEnvironment, DeclaredNames } from './declared-names.ts'
import { isDyn, mostGeneral, Substitution } from './substitution.ts'
import { wellKnownName } from './well-known-name.ts'

const literalTypes = {
  bool: boolType,
  bytes: bytesType,
  double: doubleType,
  int: intType,
  null: nullType,
  string: stringType,
  uint: uintType,
}

/** What a call of an unknown method had before it was an error: a type that fits nothing. */
const noType = opaqueType('<nil>')

const isOptional = (type: CelType): boolean =>
  type.kind === 'opaque' && type.name === 'optional_type'
const withoutOptional = (type: CelType): CelType => (isOptional(type) ? type.parameters[0]! : type)

/** `a.b.c` as one name; undefined if the expression is not a chain of names. */
function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

/** Names of the type parameters of an overload, in order. */
function parametersOf(types: readonly CelType[], found = new Set<string>()): Set<string> {
  for (const type of types) {
    if (type.kind === 'param') found.add(type.name)
    parametersOf(type.parameters, found)
  }
  return found
}

const signatureText = (types: readonly CelType[], isMember: boolean): string => {
  const args = (isMember ? types.slice(1) : types).map(formatType).join(', ')
  return `${isMember ? `${formatType(types[0]!)}.` : ''}(${args})`
}

const primitives: Readonly<Record<string, string>> = {
  ...{ bool: 'BOOL', int: 'INT64', uint: 'UINT64' },
  ...{ double: 'DOUBLE', string: 'STRING', bytes: 'BYTES' },
}

/** A type as older releases of cel-go print it. */
const encodedType = (type: CelType): string =>
  Object.hasOwn(primitives, type.kind) ? `primitive:${primitives[type.kind]}` : formatType(type)

class Checker {
  readonly types = new Map<number, CelType>()
  readonly references = new Map<number, Reference>()
  readonly errors: CelError[] = []
  readonly #environment: CheckEnvironment
  readonly #positions: ReadonlyMap<number, number>
  readonly #names: DeclaredNames
  readonly #substitution = new Substitution()
  #variables = 0

  constructor(parsed: ParsedExpr, environment: CheckEnvironment) {
    this.#environment = environment
    this.#positions = parsed.positions
    this.#names = new DeclaredNames(environment)
  }

  /** Replaces type parameters by what was found for them. */
  finish(): void {
    for (const [id, type] of this.types) this.types.set(id, this.#substitution.resolve(type, true))
  }

  #error(id: number, message: string): void {
    this.errors.push({ position: this.#positions.get(id) ?? -1, message })
  }

  #undeclared(id: number, name: string): void {
    const { container } = this.#environment
    this.#error(id, `undeclared reference to '${name}' (in container '${container}')`)
  }

  #mismatch(id: number, expected: CelType, found: CelType): void {
    this.#error(id, `expected type '${formatType(expected)}' but found '${formatType(found)}'`)
  }

  #typeOf(expr: Expr): CelType {
    return this.types.get(expr.id) ?? errorType
  }

  #newParameter(): CelType {
    return typeParam(`_var${this.#variables++}`)
  }

  #set<Node extends Expr>(expr: Node, type: CelType): Node {
    const before = this.types.get(expr.id)
    // A macro may use one argument twice: both uses must have one type.
    if (before !== undefined && !isSameType(before, type)) {
      const old = formatType(before)
      this.#error(
        expr.id,
        `incompatible type already exists for expression: ${expr.id} old:${old}, new:${formatType(type)}`,
      )
    } else this.types.set(expr.id, type)
    return expr
  }

  check(expr: Expr): Expr {
    switch (expr.kind) {
      case 'literal':
        return this.#set(expr, literalTypes[expr.type])
      case 'ident': {
        const found = this.#ident(expr.id, [expr.name])
        if (found !== undefined) return found
        this.#undeclared(expr.id, expr.name)
        return this.#set(expr, errorType)
      }
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  #ident(id: number, qualifiers: readonly string[]): Expr | undefined {
    const found = this.#names.find(qualifiers)
    if (found === undefined) return undefined
    const { name, type, value } = found
    this.references.set(id, { kind: 'ident', name, ...(value && { value }) })
    return this.#set({ kind: 'ident', id, name }, type)
  }

  #select(expr: Select): Expr {
    const name = expr.testOnly ? undefined : qualifiedName(expr)
    if (name !== undefined) {
      const isRooted = name.startsWith('.')
      const qualifiers = (isRooted ? name.slice(1) : name).split('.')
      if (isRooted) qualifiers[0] = `.${qualifiers[0]}`
      const found = this.#ident(expr.id, qualifiers)
      if (found !== undefined) return found
    }
    const operand = this.check(expr.operand)
    const type = this.#fieldType(expr.id, operand, expr.field, false)
    const result = expr.testOnly ? boolType : this.#substitution.resolve(type, false)
    return this.#set({ ...expr, operand }, result)
  }

  /** The type of a field of a checked operand. */
  #fieldType(id: number, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = this.#substitution.resolve(this.#typeOf(operand), false)
    const target = withoutOptional(operandType)
    let type: CelType = errorType
    switch (target.kind) {
      case 'map':
        type = target.parameters[1]!
        break
      case 'struct':
        type = this.#declaredField(id, target.name, field) ?? errorType
        break
      case 'param':
        this.#substitution.assign(dynType, target)
        type = dynType
        break
      default:
        if (target.kind !== 'error' && !isDyn(target))
          this.#error(id, `type '${this.#show(target)}' does not support field selection`)
        type = dynType
    }
    return optional || isOptional(operandType) ? optionalOf(type) : type
  }

  #show(type: CelType): string {
    return this.#environment.showsEncodedTypes ? encodedType(type) : formatType(type)
  }

  #declaredField(id: number, typeName: string, field: string): CelType | undefined {
    const { provider } = this.#environment
    if (provider.findType(typeName) === undefined) {
      this.#error(id, `unexpected failed resolution of '${typeName}'`)
      return undefined
    }
    const type = provider.findField(typeName, field)
    if (type === undefined) this.#error(id, `undefined field '${field}'`)
    return type
  }

  #optionalSelect(expr: Call): Expr {
    const [operand, field] = expr.args as [Expr, Expr]
    if (field.kind !== 'literal' || field.type !== 'string') {
      this.#error(field.id, 'unsupported optional field selection: not a field name')
      return expr
    }
    const checked = this.check(operand)
    const type = this.#fieldType(expr.id, checked, field.value, true)
    this.references.set(expr.id, { kind: 'function', overloadIds: ['select_optional_field'] })
    return this.#set({ ...expr, args: [checked, field] }, this.#substitution.resolve(type, false))
  }

  #call(expr: Call): Expr {
    if (expr.name === '_?._') return this.#optionalSelect(expr)
    const args = expr.args.map((arg) => this.check(arg))
    if (expr.target === undefined) {
      const found = this.#names.findFunction(expr.name)
      if (found !== undefined) return this.#resolve({ ...expr, name: found.name, args }, found)
      this.#undeclared(expr.id, expr.name)
      return this.#set({ ...expr, args }, errorType)
    }
    // `a.b.c(x)` is the function `a.b.c`, or the function `c` of `a.b`.
    const prefix = qualifiedName(expr.target)
    const qualified =
      prefix === undefined ? undefined : this.#names.findFunction(`${prefix}.${expr.name}`)
    if (qualified !== undefined) {
      const call: Call = { ...expr, name: qualified.name, target: undefined, args }
      return this.#resolve(call, qualified)
    }
    const call = { ...expr, target: this.check(expr.target), args }
    const found = this.#names.findFunction(expr.name)
    if (found !== undefined) return this.#resolve(call, found)
    this.#undeclared(expr.id, expr.name)
    return this.#set(call, this.#environment.checksOperatorsAsCalls ? noType : errorType)
  }

  #resolve(call: Call, declaration: FunctionDeclaration): Expr {
    const isLogic = declaration.name === '_&&_' || declaration.name === '_||_'
    if (isLogic && this.#environment.checksOperatorsAsCalls !== true)
      return this.#logic(call, declaration)
    const operands = call.target === undefined ? call.args : [call.target, ...call.args]
    const types = operands.map((operand) => this.#typeOf(operand))
    const overloadIds: string[] = []
    let result: CelType | undefined
    for (const one of declaration.overloads) {
      if (one.member !== (call.target !== undefined) || this.#environment.isDisabled?.(one))
        continue
      const signature = this.#instantiate([one.result, ...one.params])
      if (!this.#substitution.assignAll(types, signature.slice(1))) continue
      overloadIds.push(one.id)
      const found = this.#substitution.resolve(signature[0]!, false)
      if (result === undefined) result = found
      else if (!isDyn(result) && !isSameType(found, result)) result = dynType
    }
    if (result === undefined) {
      const found = types.map((type) => this.#substitution.resolve(type, true))
      const signature = signatureText(found, call.target !== undefined)
      this.#error(
        call.id,
        `found no matching overload for '${declaration.name}' applied to '${signature}'`,
      )
      return this.#set(call, errorType)
    }
    this.references.set(call.id, { kind: 'function', overloadIds })
    return this.#set(call, result)
  }

  #logic(call: Call, declaration: FunctionDeclaration): Expr {
    let failed = false
    for (const arg of call.args) {
      const type = this.#typeOf(arg)
      if (this.#substitution.assign(type, boolType)) continue
      this.#mismatch(arg.id, boolType, type)
      failed = true
    }
    if (failed) return this.#set(call, errorType)
    const overloadIds = [declaration.overloads[0]!.id]
    this.references.set(call.id, { kind: 'function', overloadIds })
    return this.#set(call, boolType)
  }

  /** The types of an overload with fresh type parameters. */
  #instantiate(types: readonly CelType[]): readonly CelType[] {
    const parameters = parametersOf(types)
    if (parameters.size === 0) return types
    const fresh = new Substitution()
    for (const name of parameters) fresh.bind(typeParam(name), this.#newParameter())
    return types.map((type) => fresh.resolve(type, false))
  }

  #list(expr: ListExpr): Expr {
    let type: CelType | undefined
    const elements = expr.elements.map((element, at) => {
      const checked = this.check(element)
      const found = expr.optionalIndices.includes(at)
        ? this.#unwrapEntry(checked)
        : this.#typeOf(checked)
      type = this.#join(checked, type, found)
      return checked
    })
    return this.#set({ ...expr, elements }, listOf(type ?? this.#newParameter()))
  }

  /** The type of an optional element or entry `?x`. */
  #unwrapEntry(checked: Expr): CelType {
    const type = this.#typeOf(checked)
    const unwrapped = withoutOptional(type)
    if (unwrapped === type && !isDyn(type)) this.#mismatch(checked.id, optionalOf(type), type)
    return unwrapped
  }

  #map(expr: MapExpr): Expr {
    let keyType: CelType | undefined
    let valueType: CelType | undefined
    const entries = expr.entries.map((entry) => {
      const key = this.check(entry.key)
      keyType = this.#join(key, keyType, this.#typeOf(key))
      const value = this.check(entry.value)
      const found = entry.optional ? this.#unwrapEntry(value) : this.#typeOf(value)
      valueType = this.#join(value, valueType, found)
      return { ...entry, key, value }
    })
    const keys = keyType ?? this.#newParameter()
    return this.#set({ ...expr, entries }, mapOf(keys, valueType ?? this.#newParameter()))
  }

  /** The type of a literal with one more element. */
  #join(expr: Expr, before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type
    if (this.#substitution.assign(before, type)) return mostGeneral(before, type)
    if (!this.#environment.homogeneousLiterals) return dynType
    this.#mismatch(expr.id, before, type)
    return errorType
  }

  #struct(expr: StructExpr): Expr {
    const found = this.#names.findType(expr.typeName)
    if (found === undefined) {
      this.#undeclared(expr.id, expr.typeName)
      return this.#set(expr, errorType)
    }
    this.references.set(expr.id, { kind: 'ident', name: found.name })
    let type = found.type.parameters[0]!
    let typeName = wellKnownName(type) ?? type.name
    if (wellKnownName(type) === undefined && type.kind !== 'struct') {
      this.#error(expr.id, `'${formatType(type)}' is not a message type`)
      type = errorType
      typeName = found.name
    }
    this.#set(expr, type)
    const fields = expr.fields.map((field) => {
      const value = this.check(field.value)
      const fieldType = this.#declaredField(field.id, typeName, field.name) ?? errorType
      const valueType = field.optional ? this.#unwrapEntry(value) : this.#typeOf(value)
      if (!this.#substitution.assign(fieldType, valueType))
        this.#error(
          field.id,
          `expected type of field '${field.name}' is '${formatType(fieldType)}' but provided type is '${formatType(valueType)}'`,
        )
      return { ...field, value }
    })
    return { ...expr, typeName: found.name, fields }
  }

  #comprehension(expr: Comprehension): Expr {
    const iterRange = this.check(expr.iterRange)
    const accuInit = this.check(expr.accuInit)
    const range = this.#substitution.resolve(this.#typeOf(iterRange), false)
    const accuType = this.#typeOf(accuInit)
    this.#names.enter()
    this.#names.declare(expr.accuVar, accuType)
    const [first, second] = this.#iterated(iterRange, range, expr.iterVar2 !== undefined)
    this.#names.enter()
    this.#names.declare(expr.iterVar, first)
    if (expr.iterVar2 !== undefined) this.#names.declare(expr.iterVar2, second)
    const loopCondition = this.check(expr.loopCondition)
    this.#require(loopCondition, boolType)
    const loopStep = this.check(expr.loopStep)
    this.#require(loopStep, accuType)
    this.#names.exit()
    const result = this.check(expr.result)
    this.#names.exit()
    const type = this.#substitution.resolve(this.#typeOf(result), false)
    const checked = { ...expr, iterRange, accuInit, loopCondition, loopStep, result }
    return this.#set(checked, type)
  }

  /** The types of the variables of a comprehension. */
  #iterated(iterRange: Expr, range: CelType, isTwo: boolean): [CelType, CelType] {
    const [first, second] = range.parameters
    switch (range.kind) {
      case 'list':
        return isTwo ? [intType, first!] : [first!, errorType]
      case 'map':
        return [first!, second!]
      case 'dyn':
      case 'error':
      case 'param':
        this.#substitution.assign(dynType, range)
        return [dynType, dynType]
      default:
        this.#error(
          iterRange.id,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
    }
  }

  #require(expr: Expr, type: CelType): void {
    const found = this.#typeOf(expr)
    if (!this.#substitution.assign(type, found)) this.#mismatch(expr.id, type, found)
  }
}

export type CheckResult =
  | { readonly checked: CheckedExpr; readonly type: CelType }
  | { readonly errors: readonly CelError[] }

export function check(parsed: ParsedExpr, environment: CheckEnvironment): CheckResult {
  const checker = new Checker(parsed, environment)
  const root = checker.check(parsed.root)
  checker.finish()
  if (checker.errors.length > 0) return { errors: checker.errors }
  const { types, references } = checker
  const checked = { root, positions: parsed.positions, types, references }
  return { checked, type: types.get(root.id)! }
}
