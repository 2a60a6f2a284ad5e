/**
 * Whether a value fits its type closely enough to be owned field by field, in the original's words: wrong kinds of
 * value, fields the type does not have, items that have the same key or none. Ranges and formats are not looked at.
 */
import { byCodePoint, goUntyped } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import { goType, goValue } from '#patch/go-value.ts'
import { isMap, type JsonMap } from '#patch/json-map.ts'
import type { List, Scalar, Type } from '#schema/type.ts'
import { elementText } from './path-element.ts'
import { itemElement, memberType, NoElement } from './shape.ts'

/** `.spec.replicas: expected numeric (int or float), got string` */
interface Problem {
  path: string
  text: string
}

/** undefined: it fits. */
export function typeProblems(type: Type, value: Json): string | undefined {
  const problems: Problem[] = []
  look(type, value, '', problems)
  if (problems.length === 0) return undefined
  const lines = problems.map(({ path, text }) => (path === '' ? text : `${path}: ${text}`))
  return lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n')
}

function look(type: Type, value: Json, path: string, problems: Problem[]): void {
  if (value === null) return
  switch (type.is) {
    case 'scalar': {
      const text = scalarProblem(type, value)
      if (text !== undefined) problems.push({ path, text })
      return
    }
    case 'list':
      if (Array.isArray(value)) lookAtItems(type, value, path, problems)
      else problems.push({ path, text: `expected list, got &{${goValue(value)}}` })
      return
    case 'struct':
    case 'map':
      if (type.is === 'struct' && type.union === true) return
      if (isMap(value)) lookAtMembers(type, value, path, problems)
      else problems.push({ path, text: `expected map, got &{${goValue(value)}}` })
      return
    case 'untyped':
      return
  }
}

function scalarProblem({ scalar }: Scalar, value: Json): string | undefined {
  switch (scalar) {
    case 'string':
    case 'bytes':
    case 'duration':
      if (typeof value === 'string') return undefined
      return `expected string, got &value.valueUnstructured{Value:${goUntyped(value)}}`
    case 'bool':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goValue(value)}}`
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'float64':
      if (typeof value === 'number' || typeof value === 'bigint') return undefined
      return `expected numeric (int or float), got ${goType(value)}`
    default:
      return undefined
  }
}

function lookAtMembers(type: Type, map: JsonMap, path: string, problems: Problem[]): void {
  for (const name of Object.keys(map).sort(byCodePoint)) {
    const member = memberType(type, name)
    if (member === undefined) {
      problems.push({ path: `${path}.${name}`, text: 'field not declared in schema' })
      return
    }
    look(member, map[name] as Json, `${path}.${name}`, problems)
  }
}

function lookAtItems(list: List, items: Json[], path: string, problems: Problem[]): void {
  const seen = new Set<string>()
  for (const [i, item] of items.entries()) {
    let step = `[${i}]`
    if (list.listType !== 'atomic') {
      const element = elementOrProblem(list, item, i, path, problems)
      if (element === undefined) return
      step = elementText(element)
      if (seen.has(element)) problems.push({ path, text: `duplicate entries for key ${step}` })
      seen.add(element)
    }
    look(list.items, item, path + step, problems)
  }
}

function elementOrProblem(list: List, item: Json, i: number, path: string, problems: Problem[]) {
  try {
    return itemElement(list, item)
  } catch (error) {
    if (!(error instanceof NoElement)) throw error
    problems.push({ path, text: `element ${i}: ${error.message}` })
    return undefined
  }
}
