/**
 * The names that an expression can use: variables, functions, types and constants, in a container
 * and in the scopes of comprehensions.
 */
import type { Literal } from '#cel/ast.ts'
import {
  type CelType,
  type FunctionDeclaration,
  intType,
  type Overload,
  type TypeProvider,
  typeOf,
} from '#cel/cel-type.ts'

export interface Variable {
  readonly name: string
  readonly type: CelType
  /** The value of a constant. */
  readonly value?: Literal
}

export interface CheckEnvironment {
  /** Qualifies names: in `a.b`, `x` is `a.b.x`, `a.x` or `x`. Empty in Kubernetes. */
  readonly container: string
  readonly variables: ReadonlyMap<string, CelType>
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly provider: TypeProvider
  /** Lists and maps of several types are errors. */
  readonly homogeneousLiterals: boolean
  isDisabled?(overload: Overload): boolean
  /** Errors show types as they are encoded: 'primitive:STRING'. */
  readonly showsEncodedTypes?: boolean
  /** `&&` and `||` are checked as other calls are, and unknown methods have no type. */
  readonly checksOperatorsAsCalls?: boolean
}

/** Declarations of one function in several libraries become one. */
export function mergeFunctions(
  ...libraries: (readonly FunctionDeclaration[])[]
): Map<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>()
  for (const declaration of libraries.flat()) {
    const known = functions.get(declaration.name)
    const overloads = [...(known?.overloads ?? []), ...declaration.overloads]
    functions.set(declaration.name, known === undefined ? declaration : { ...known, overloads })
  }
  return functions
}

export class DeclaredNames {
  readonly #environment: CheckEnvironment
  readonly #scopes: Map<string, CelType>[] = []

  constructor(environment: CheckEnvironment) {
    this.#environment = environment
  }

  enter(): void {
    this.#scopes.push(new Map())
  }

  exit(): void {
    this.#scopes.pop()
  }

  declare(name: string, type: CelType): void {
    this.#scopes.at(-1)!.set(name, type)
  }

  /** What a name, or names joined by dots, means; undefined if nothing declares it. */
  find(qualifiers: readonly string[]): Variable | undefined {
    const first = qualifiers[0]!
    const isRooted = first.startsWith('.')
    const local = this.#local(isRooted ? first.slice(1) : first)
    if (local !== undefined && !isRooted)
      return qualifiers.length === 1 ? { name: first, type: local } : undefined
    for (const candidate of this.#candidates(qualifiers.join('.'))) {
      const found = this.#global(candidate)
      // A variable of a comprehension has the same name: keep the dot.
      if (found !== undefined)
        return local === undefined ? found : { ...found, name: `.${found.name}` }
    }
    return undefined
  }

  findType(name: string): Variable | undefined {
    for (const candidate of this.#candidates(name)) {
      const type = this.#environment.provider.findType(candidate)
      if (type !== undefined) return { name: candidate, type: typeOf(type) }
    }
    return undefined
  }

  findFunction(name: string): FunctionDeclaration | undefined {
    for (const candidate of this.#candidates(name)) {
      const found = this.#environment.functions.get(candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  #local(name: string): CelType | undefined {
    for (const scope of this.#scopes.toReversed()) {
      const type = scope.get(name)
      if (type !== undefined) return type
    }
    return undefined
  }

  #global(name: string): Variable | undefined {
    const { variables, provider } = this.#environment
    const variable = variables.get(name)
    if (variable !== undefined) return { name, type: variable }
    const type = provider.findType(name)
    if (type !== undefined) return { name, type: typeOf(type) }
    const value = provider.findEnum?.(name)
    if (value === undefined) return undefined
    return { name, type: intType, value: { kind: 'literal', id: 0, type: 'int', value } }
  }

  #candidates(name: string): string[] {
    if (name.startsWith('.')) return [name.slice(1)]
    const candidates = []
    for (let { container } = this.#environment; container !== ''; ) {
      candidates.push(`${container}.${name}`)
      container = container.slice(0, Math.max(0, container.lastIndexOf('.')))
    }
    return [...candidates, name]
  }
}
