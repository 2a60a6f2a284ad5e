/**
 * Checks whether a value fits its type well enough for field ownership, with kube-apiserver's
 * messages. It reports wrong types, undeclared fields, and list items with duplicate or missing
 * keys. Ranges and formats are not checked.
 */
import { goFormat, goUntyped } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { goType, goValue } from '#patch/go-value.ts'
import { isMap, type JsonMap } from '#patch/json-map.ts'
import type { List, Scalar, Type } from '#schema/type.ts'
import { elementText, shownValue, wholeNumber } from './path-element.ts'
import { type ApplyRules, newestRules } from './rules.ts'
import { itemElement, memberType, NoElement } from './shape.ts'

/**
 * `.spec.replicas: expected numeric (int or float), got string`. Callers prefix the path from the
 * inside out.
 */
interface Problem {
  path: string
  text: string
}

/** A live object may have items with the same key, an applied configuration may not. */
interface LookRules extends ApplyRules {
  readonly allowsDuplicates?: boolean
}

/** The problems of a live object. */
export const liveProblems = (type: Type, value: Json, rules: ApplyRules): string | undefined =>
  typeProblems(type, value, { ...rules, allowsDuplicates: rules.ownsDuplicates })

/** Returns the message; undefined if the value fits. */
export function typeProblems(
  type: Type,
  value: Json,
  rules: LookRules = newestRules,
): string | undefined {
  const problems = look(type, value, rules)
  if (problems === undefined) return undefined
  const lines = problems.map(({ path, text }) => (path === '' ? text : `${path}: ${text}`))
  return lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n')
}

const problem = (text: string): Problem[] => [{ path: '', text }]

function look(type: Type, value: Json, rules: LookRules): Problem[] | undefined {
  if (value === null) return undefined
  switch (type.is) {
    case 'scalar': {
      const text = scalarProblem(type, value, rules)
      return text === undefined ? undefined : problem(text)
    }
    case 'list':
      if (Array.isArray(value)) return lookAtItems(type, value, rules)
      return problem(goFormat(`expected list, got ${got(value, rules)}`))
    case 'struct':
    case 'map':
      if (type.is === 'struct' && type.union === true) return undefined
      if (isMap(value)) return lookAtMembers(type, value, rules)
      return problem(goFormat(`expected map, got ${got(value, rules)}`))
    case 'untyped':
      return undefined
  }
}

const got = (value: Json, { endsAtWrongItem }: ApplyRules): string =>
  endsAtWrongItem ? `&{${goValue(value)}}` : shownValue(value)

/** Older releases print the wrapper's type for every value. */
const typeName = (value: Json, { namesTypes }: ApplyRules): string =>
  namesTypes ? goType(value) : '*value.valueUnstructured'

function scalarProblem({ scalar }: Scalar, value: Json, rules: ApplyRules): string | undefined {
  const shown = rules.endsAtWrongItem ? undefined : shownValue(value)
  switch (scalar === 'quantity' && !rules.takesNumbersForQuantities ? 'string' : scalar) {
    case 'string':
    case 'bytes':
    case 'duration':
      if (typeof value === 'string') return undefined
      return `expected string, got ${shown ?? `&value.valueUnstructured{Value:${goUntyped(value)}}`}`
    case 'bool':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${got(value, rules)}`
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'float64':
      if (typeof value === 'number' || typeof value === 'bigint') return undefined
      return `expected numeric (int or float), got ${shown ?? typeName(value, rules)}`
    default:
      return undefined
  }
}

function lookAtMembers(type: Type, map: JsonMap, rules: LookRules): Problem[] | undefined {
  let problems: Problem[] | undefined
  for (const name of Object.keys(map)) {
    const member = memberType(type, name)
    if (member === undefined) {
      problems ??= []
      problems.push({ path: `.${name}`, text: 'field not declared in schema' })
      if (rules.endsAtWrongItem) return problems
      continue
    }
    problems = below(problems, look(member, map[name] as Json, rules), () => `.${name}`)
  }
  return problems
}

/** Appends the problems of a member or item, with its path. */
function below(before: Problem[] | undefined, found: Problem[] | undefined, step: () => string) {
  if (found === undefined) return before
  const prefix = step()
  for (const one of found) one.path = prefix + one.path
  if (before === undefined) return found
  for (const one of found) before.push(one)
  return before
}

function lookAtItems(list: List, items: Json[], rules: LookRules): Problem[] | undefined {
  let problems: Problem[] | undefined
  const seen = new Set<string>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Json
    let element = `i:${i}`
    if (list.listType !== 'atomic') {
      try {
        element = itemElement(list, item, rules)
      } catch (error) {
        if (!(error instanceof NoElement)) throw error
        problems ??= []
        problems.push({ path: '', text: `element ${i}: ${error.message}` })
        if (rules.endsAtWrongItem) return problems
        continue
      }
      if (seen.has(element) && rules.allowsDuplicates !== true) {
        problems ??= []
        const text = `duplicate entries for key ${elementText(element, wholeNumber)}`
        problems.push({ path: '', text })
      }
      seen.add(element)
    }
    problems = below(problems, look(list.items, item, rules), () =>
      elementText(element, wholeNumber),
    )
  }
  return problems
}
