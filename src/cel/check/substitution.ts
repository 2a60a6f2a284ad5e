/**
 * Type parameters and the types found for them. Assignability binds parameters in both directions:
 * a call of `list(A) + list(A)` with `list(int)` and `list(dyn)` binds A to int, then to the more
 * general dyn.
 */
import {
  type CelType,
  dynType,
  formatType,
  isAssignableTo,
  isSameType,
  listOf,
  mapOf,
  nullType,
  opaqueType,
  typeOf,
} from '#cel/cel-type.ts'

export const isDyn = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'any'
const isDynOrError = (type: CelType): boolean => type.kind === 'error' || isDyn(type)

/** The more general of two types that can be assigned to each other. */
export const mostGeneral = (a: CelType, b: CelType): CelType =>
  isEqualOrLessSpecific(a, b) ? a : b

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true
  if (isDyn(b) || b.kind === 'param') return false
  if (a.kind !== b.kind) return false
  const everyParameter = () =>
    a.parameters.every((parameter, at) => isEqualOrLessSpecific(parameter, b.parameters[at]!))
  switch (a.kind) {
    case 'opaque':
      return a.name === b.name && a.parameters.length === b.parameters.length && everyParameter()
    case 'list':
    case 'map':
      return everyParameter()
    case 'type':
      return true
    default:
      return isSameType(a, b)
  }
}

/** Kinds that admit null without being wrappers. */
const nullableKinds = new Set(['opaque', 'struct', 'any', 'duration', 'timestamp'])

const admitsNull = (type: CelType): boolean =>
  nullableKinds.has(type.kind) || isAssignableTo(type, nullType)

export class Substitution {
  #bound: Map<string, CelType>

  constructor(bound = new Map<string, CelType>()) {
    this.#bound = bound
  }

  /** Whether `from` can be assigned to `to`; binds parameters only if so. */
  assign(to: CelType, from: CelType): boolean {
    return this.assignAll([to], [from])
  }

  assignAll(to: readonly CelType[], from: readonly CelType[]): boolean {
    const before = this.#bound
    this.#bound = new Map(before)
    if (this.#isAssignableList(to, from)) return true
    this.#bound = before
    return false
  }

  bind(parameter: CelType, type: CelType): void {
    this.#bound.set(formatType(parameter), type)
  }

  /** A type with its parameters replaced; unbound parameters remain, or become dyn. */
  resolve(type: CelType, unboundIsDyn: boolean): CelType {
    const found = this.#bound.size === 0 ? undefined : this.#bound.get(formatType(type))
    if (found !== undefined) return this.resolve(found, unboundIsDyn)
    if (type.kind === 'param') return unboundIsDyn ? dynType : type
    const [first, second] = type.parameters
    if (first === undefined) return type
    switch (type.kind) {
      case 'opaque':
        return opaqueType(
          type.name,
          ...type.parameters.map((one) => this.resolve(one, unboundIsDyn)),
        )
      case 'list':
        return listOf(this.resolve(first, unboundIsDyn))
      case 'map':
        return mapOf(this.resolve(first, unboundIsDyn), this.resolve(second!, unboundIsDyn))
      case 'type':
        return typeOf(this.resolve(first, unboundIsDyn))
      default:
        return type
    }
  }

  #isAssignableList(to: readonly CelType[], from: readonly CelType[]): boolean {
    return to.length === from.length && to.every((type, at) => this.#isAssignable(type, from[at]!))
  }

  #isAssignable(to: CelType, from: CelType): boolean {
    if (from.kind === 'param') {
      const bound = this.#bindIfValid(to, from)
      if (bound !== 'unrelated') return bound === 'valid'
    }
    if (to.kind === 'param') return this.#bindIfValid(from, to) === 'valid'
    if (isDynOrError(to) || isDynOrError(from)) return true
    if (to.kind === 'null') return admitsNull(from)
    if (from.kind === 'null') return admitsNull(to)
    switch (to.kind) {
      case 'type':
        return from.kind === 'type'
      case 'opaque':
      case 'list':
      case 'map':
        return (
          to.kind === from.kind &&
          to.name === from.name &&
          this.#isAssignableList(to.parameters, from.parameters)
        )
      default:
        return isAssignableTo(from, to)
    }
  }

  /**
   * Binds a parameter to a type. `unrelated`: nothing is bound, but the other direction may work.
   */
  #bindIfValid(type: CelType, parameter: CelType): 'valid' | 'invalid' | 'unrelated' {
    if (type.kind === parameter.kind && isSameType(type, parameter)) return 'valid'
    const bound = this.#bound.get(formatType(parameter))
    if (bound === undefined) {
      if (!this.#isFreeIn(parameter, type)) return 'unrelated'
      this.bind(parameter, type)
      return 'valid'
    }
    if (type.kind === bound.kind && isSameType(type, bound)) return 'valid'
    if (!this.#isAssignable(type, bound)) return 'invalid'
    const general = mostGeneral(type, bound)
    if (this.#isFreeIn(parameter, general)) this.bind(parameter, general)
    return 'valid'
  }

  /** Whether a parameter does not occur in a type: binding it would make a circle. */
  #isFreeIn(parameter: CelType, type: CelType): boolean {
    if (isSameType(parameter, type)) return false
    if (type.kind === 'param') {
      const bound = this.#bound.get(formatType(type))
      return bound === undefined || this.#isFreeIn(parameter, bound)
    }
    return type.parameters.every((one) => this.#isFreeIn(parameter, one))
  }
}
