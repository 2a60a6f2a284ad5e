/**
 * Visits every value of an object that has defaults, parents before children, as Go's generated
 * defaulters do. The walk is compiled once per kind and visits only paths that lead to a default.
 * Defaults are functions in a table, and values that fields of the type declare. The function of a
 * type runs before the defaults that its fields declare.
 */
import type { Json, Loose } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import type { Field, Struct, Type } from './type.ts'

/** Default functions by OpenAPI type name. Each changes its value in place. */
export type DefaultsTable<Context> = Readonly<
  Record<string, (value: Loose, context: Context) => void>
>

type Visit = (value: Loose) => void

export function compileDefaults<Context>(
  type: Type,
  table: DefaultsTable<Context>,
  context: Context,
): Visit {
  return new Compiler(table, context).visitOf(type) ?? (() => {})
}

/** One field to visit. A non-pointer struct exists in Go even if it is unset. */
interface Step {
  readonly name: string
  readonly make: boolean
  readonly visit: Visit
}

class Compiler<Context> {
  readonly #table: DefaultsTable<Context>
  readonly #context: Context
  readonly #visits = new Map<Type, Visit>()
  /** Whether a struct leads to a default, for the structs that were already checked. */
  readonly #leads = new Map<Struct, boolean>()

  constructor(table: DefaultsTable<Context>, context: Context) {
    this.#table = table
    this.#context = context
  }

  visitOf(type: Type): Visit | undefined {
    const known = this.#visits.get(type)
    if (known !== undefined) return known
    if (!this.#reaches(type)) return undefined
    const visit = this.#compile(type)
    this.#visits.set(type, visit)
    return visit
  }

  #entry(struct: Struct): Visit | undefined {
    const declared = struct.fields.filter(declaresDefault)
    const set = Object.hasOwn(this.#table, struct.name) ? this.#table[struct.name] : undefined
    if (set === undefined && declared.length === 0) return undefined
    return (value) => {
      set?.(value, this.#context)
      for (const field of declared) setDeclared(value, field)
    }
  }

  /** Whether the type contains a struct with defaults. Types may be recursive. */
  #reaches(type: Type, seen = new Set<Struct>()): boolean {
    if (type.is === 'list') return this.#reaches(type.items, seen)
    if (type.is === 'map') return this.#reaches(type.values, seen)
    if (type.is !== 'struct' || seen.has(type)) return false
    const known = this.#leads.get(type)
    if (known !== undefined) return known
    seen.add(type)
    const found =
      Object.hasOwn(this.#table, type.name) ||
      type.fields.some((field) => declaresDefault(field) || this.#reaches(field.type, seen))
    if (found) this.#leads.set(type, true)
    // If the outermost walk found no struct with defaults, then none of the visited structs leads
    // to one.
    else if (seen.values().next().value === type)
      for (const one of seen) this.#leads.set(one, false)
    return found
  }

  #compile(type: Type): Visit {
    if (type.is === 'list') {
      const visit = this.visitOf(type.items) as Visit
      return (value) => {
        if (Array.isArray(value)) for (const item of value) if (item !== null) visit(item)
      }
    }
    if (type.is === 'map') {
      const visit = this.visitOf(type.values) as Visit
      return (value) => {
        for (const key of Object.keys(value)) if (value[key] !== null) visit(value[key])
      }
    }
    return this.#compileStruct(type as Struct)
  }

  #compileStruct(struct: Struct): Visit {
    const entry = this.#entry(struct)
    let steps: Step[] | undefined
    const inlined: Visit[] = []
    return (value) => {
      if (typeof value !== 'object' || Array.isArray(value)) return
      steps ??= this.#stepsOf(struct, inlined)
      entry?.(value)
      // An inlined struct is the same JSON object.
      for (const visit of inlined) visit(value)
      for (const step of steps) {
        const child = value[step.name]
        if (child !== undefined && child !== null) step.visit(child)
        else if (step.make) {
          const made = {}
          step.visit(made)
          if (Object.keys(made).length > 0) value[step.name] = made
        }
      }
    }
  }

  #stepsOf(struct: Struct, inlined: Visit[]): Step[] {
    const steps: Step[] = []
    for (const field of struct.fields) {
      const visit = this.visitOf(field.type)
      if (visit === undefined) continue
      if (field.inline) inlined.push(visit)
      else steps.push({ name: field.name, make: isAlwaysThere(field), visit })
    }
    return steps
  }
}

const isAlwaysThere = (field: Field) =>
  !field.pointer && field.type.is === 'struct' && field.type.union !== true

/** The facts name a constant instead of its value. Functions in the table set these defaults. */
const namesConstant = (value: Json): boolean =>
  typeof value === 'string' && value.startsWith('ref(')

const isZero = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || value === 0 || value === false

/** Whether a field declares a default that changes an object. Go's zero value needs a pointer. */
const declaresDefault = (field: Field): boolean =>
  field.default !== undefined &&
  !namesConstant(field.default) &&
  (field.pointer || !isZero(field.default))

function setDeclared(value: Loose, field: Field): void {
  const given: Json | undefined = value[field.name]
  const isSet = field.pointer ? given !== undefined && given !== null : !isZero(given)
  if (!isSet) value[field.name] = copyData(field.default)
}
