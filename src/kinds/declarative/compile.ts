/**
 * Compiles the steps of a type into functions when a value of the type is first validated.
 *
 * If a step marked `s` fails, the remaining checks of its field are skipped after the other `s`
 * steps. A failure of a step marked `q` is not reported. Errors of stage `a` (alpha) are not
 * returned. Errors of stage `b` (beta) replace hand-written ones.
 */
import { duplicate } from '#api/field-error.ts'
import { goJson, namesInOrder } from '#api/go-syntax.ts'
import { assert } from '#base/assert.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { ownValue } from '#kinds/own-key.ts'
import type { Type } from '#schema/type.ts'
import {
  type DeclaredCheck,
  type DeclaredError,
  from,
  isEmpty,
  isZero,
  type DeclaredRule,
  type CheckedValue,
} from './check.ts'
import { enumCheck } from './enum.ts'
import { formats } from './formats.ts'
import { limits } from './limits.ts'
import { finder, type Match, repeatedAt } from './match.ts'
import { customChecks, dependent, type Member, union, zeroOrOneOf } from './members.ts'
import { immutable, monotonic, presence, updateCheck } from './presence.ts'
import type { RuleStep } from './rules-table.ts'
import { shownValue } from './shown-value.ts'

/** Returns the steps of a type in the same package, such as `Device`. */
export type StepsOf = (name: string) => readonly RuleStep[]
/** Returns the rule of a type in another package, such as `core.v1`, `PodTemplateSpec`. */
export type OtherRule = (file: string, name: string, type: Type) => DeclaredRule

type Compiled = { readonly run: DeclaredRule; readonly stops: boolean; readonly isError: boolean }

export class RuleCompiler {
  readonly #stepsOf: StepsOf
  readonly #otherRule: OtherRule
  readonly #types = new Map<string, DeclaredRule>()

  constructor(stepsOf: StepsOf, otherRule: OtherRule) {
    this.#stepsOf = stepsOf
    this.#otherRule = otherRule
  }

  /** The rules of a type. A type may contain itself, so its steps are compiled on first use. */
  typeRule(name: string, type: Type): DeclaredRule {
    const dot = name.lastIndexOf('.')
    if (dot > 0) return this.#otherRule(name.slice(0, dot), name.slice(dot + 1), type)
    let rule = this.#types.get(name)
    if (rule === undefined) {
      let compiled: DeclaredRule | undefined
      rule = (spot) => {
        compiled ??= this.#sequence(this.#stepsOf(name), type)
        const isOmitted = spot.value === undefined && type.is === 'struct'
        return isOmitted ? compiled({ ...spot, value: {} }) : compiled(spot)
      }
      this.#types.set(name, rule)
    }
    return rule
  }

  #sequence(steps: readonly RuleStep[], type: Type): DeclaredRule {
    const compiled = steps.map((step) => this.#step(step, type))
    return (spot) => {
      const errors: DeclaredError[] = []
      let isOver = false
      for (const { run, stops, isError } of compiled) {
        if (isOver && !stops) break
        const found = run(spot)
        if (found.length === 0) continue
        if (isError) errors.push(...found)
        isOver ||= stops
      }
      return errors
    }
  }

  #step(step: RuleStep, type: Type): Compiled {
    const [rule, mark] = step
    if (rule === 'field') {
      const [, name, steps] = step
      return { run: this.#field(name, steps as RuleStep[], type), stops: false, isError: true }
    }
    const isError = !mark.includes('q') && !mark.startsWith('a')
    const isBeta = mark.startsWith('b')
    const nested = this.#nested(step, type)
    if (nested !== undefined) {
      const run: DeclaredRule = isBeta
        ? (spot) => nested(spot).map(({ error }) => ({ error, isBeta }))
        : nested
      return { run, stops: mark.includes('s'), isError }
    }
    const check = checkOf(step, type)
    return {
      run: (spot) => check(spot).map((error) => ({ error, isBeta })),
      stops: mark.includes('s'),
      isError,
    }
  }

  /**
   * Validates the member of an object if it is new or changed. An inlined struct is the object
   * itself.
   */
  #field(name: string, steps: readonly RuleStep[], type: Type): DeclaredRule {
    if (name === '') return this.#sequence(steps, type)
    const checks = this.#sequence(steps, memberType(type, name))
    return (spot) => {
      const value = ownValue<CheckedValue>(spot.value, name)
      const old = ownValue<CheckedValue>(spot.old, name)
      if (spot.isUpdate && spot.old !== undefined && sameJson(value, old)) return []
      return checks({ ...spot, path: spot.path.child(name), value, old })
    }
  }

  /** Rules with rules inside. */
  #nested([rule, , ...rest]: RuleStep, type: Type): DeclaredRule | undefined {
    switch (rule) {
      case 'group':
        return this.#sequence(rest[0] as RuleStep[], type)
      case 'type':
        return this.typeRule(rest[0] as string, type)
      case 'ifOption':
        return this.#ifOption(rest as [string, boolean, RuleStep[]], type)
      case 'subfield':
        return this.#subfield(rest as [string, string, unknown, RuleStep[]], type)
      case 'eachValSliceVal':
        return this.#eachItem(rest as [Match | null, 'equal' | null, RuleStep[]], type)
      case 'eachMapVal':
        return this.#eachValue(rest as ['equal' | null, RuleStep[]], type)
      case 'eachMapKey':
        return this.#eachKey(rest[0] as RuleStep[], type)
      case 'discriminated':
        return this.#discriminated(rest as Discriminated, type)
    }
    return undefined
  }

  #ifOption([option, enabled, steps]: [string, boolean, RuleStep[]], type: Type): DeclaredRule {
    const checks = this.#sequence(steps, type)
    return (spot) => (spot.feature(option) === enabled ? checks(spot) : [])
  }

  #subfield(
    [name, member, , steps]: [string, string, unknown, RuleStep[]],
    type: Type,
  ): DeclaredRule {
    const checks = this.#sequence(steps, memberType(type, member))
    return (spot) => {
      const [value, old] = [
        ownValue<CheckedValue>(spot.value, member),
        ownValue<CheckedValue>(spot.old, member),
      ]
      if (spot.isUpdate && spot.old !== undefined && sameJson(value, old)) return []
      return checks({ ...spot, path: spot.path.child(name), value, old })
    }
  }

  #eachItem(
    [match, equal, steps]: [Match | null, 'equal' | null, RuleStep[]],
    type: Type,
  ): DeclaredRule {
    assert(type.is === 'list', 'rules: items of what is no list')
    const checks = this.#sequence(steps, type.items)
    return (spot) => {
      const list: CheckedValue[] = spot.value ?? []
      const find = match === null ? undefined : finder(spot.old ?? [], match)
      return list.flatMap((value, i) => {
        const old = find?.(value)
        if (spot.isUpdate && old !== undefined && (equal === null || sameJson(value, old))) {
          return []
        }
        return checks({ ...spot, path: spot.path.index(i), value, old })
      })
    }
  }

  #eachValue([equal, steps]: ['equal' | null, RuleStep[]], type: Type): DeclaredRule {
    assert(type.is === 'map', 'rules: values of what is no map')
    const checks = this.#sequence(steps, type.values)
    return (spot) =>
      namesInOrder(spot.value ?? {}).flatMap((key) => {
        const [value, old] = [spot.value[key], ownValue<CheckedValue>(spot.old, key)]
        const isSame = equal !== null && old !== undefined && sameJson(value, old)
        return spot.isUpdate && isSame
          ? []
          : checks({ ...spot, path: spot.path.key(key), value, old })
      })
  }

  #eachKey(steps: RuleStep[], type: Type): DeclaredRule {
    const checks = this.#sequence(steps, type)
    return (spot) =>
      namesInOrder(spot.value ?? {})
        .filter((key) => !spot.isUpdate || ownValue(spot.old, key) === undefined)
        .flatMap((value) => checks({ ...spot, value, old: undefined }))
  }

  #discriminated([name, member, chooser, , other, rows]: Discriminated, type: Type): DeclaredRule {
    const of = memberType(type, member)
    const byValue = new Map(rows.map(([value, steps]) => [value, this.#sequence(steps ?? [], of)]))
    const otherwise = this.#sequence(other ?? [], of)
    return (spot) => {
      const [value, old] = [
        ownValue<CheckedValue>(spot.value, member),
        ownValue<CheckedValue>(spot.old, member),
      ]
      const [now, before] = [ownValue(spot.value, chooser), ownValue(spot.old, chooser)]
      const isSame = now === before && sameJson(value, old)
      if (spot.isUpdate && spot.old !== undefined && isSame) return []
      const checks = byValue.get(String(now ?? '')) ?? otherwise
      return checks({ ...spot, path: spot.path.child(name), value, old })
    }
  }
}

type Discriminated = [
  name: string,
  member: string,
  chooser: string,
  equal: unknown,
  other: RuleStep[] | null,
  rows: [string, RuleStep[] | null][],
]

function memberType(type: Type, name: string): Type {
  const field = type.is === 'struct' ? type.byName.get(name) : undefined
  assert(field, `rules: no field ${name}`)
  return field.type
}

/** A rule without rules inside. */
function checkOf([rule, , ...rest]: RuleStep, type: Type): DeclaredCheck {
  const format = formats.get(rule)
  if (format !== undefined) {
    const [name, check] = format
    return ({ value, path }) =>
      typeof value === 'string'
        ? check(value, path).map((error) => from(`format=${name}`, error))
        : []
  }
  const simple = presence.get(rule) ?? limits.get(rule)?.(rest[0] as number)
  if (simple !== undefined) return simple
  switch (rule) {
    case 'immutable':
      return immutable
    case 'monotonic':
      return monotonic
    case 'custom':
      return known(customChecks.get(rest[0] as string), rest[0])
    case 'enum':
      return enumCheck(rest[0] as string[], rest[1] as null)
    case 'valSliceUnique':
      return ({ value, path }) =>
        repeatedAt(value ?? [], rest[0] as Match).map((i) =>
          duplicate(path.index(i), shownValue(value[i], itemType(type))),
        )
    case 'union':
      return union(rest[0] as string[], rest.slice(1) as Member[])
    case 'zeroOrOneOfUnion':
      return zeroOrOneOf(rest[0] as string[], rest.slice(1) as Member[])
    case 'dependentRequired':
      return dependent(true, rest as [string, Member, string, Member])
    case 'dependentForbidden':
      return dependent(false, rest as [string, Member, string, Member])
    case 'updatePointer':
      return updateCheck((value) => value === undefined || value === null, rest as string[])
    case 'updateValueByCompare':
      return updateCheck(isZero, rest as string[])
    case 'valSliceUpdate':
      return updateCheck(isEmpty, rest.slice(1) as string[], rest[0] as Match)
  }
  return known(undefined, rule)
}

const itemType = (type: Type): Type => (type.is === 'list' ? type.items : type)

function known(check: DeclaredCheck | undefined, name: unknown): DeclaredCheck {
  assert(check !== undefined, `rules: no rule is called ${goJson(name)}`)
  return check
}
