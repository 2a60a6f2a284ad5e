/**
 * Whether a value fits its type closely enough to be owned field by field, in the original's words: wrong kinds of
 * value, fields the type does not have, items that have the same key or none. Ranges and formats are not looked at.
 */
import { goFloat, goQuote } from '#api/go-syntax.ts'
import type { Json } from '#api/object-meta.ts'
import type { List, Scalar, Type } from '#schema/type.ts'
import { compareText, elementText } from './path-element.ts'
import { isMap, itemElement, type JsonMap, memberType, NoElement } from './shape.ts'

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
      return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case 'bool':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goValue(value)}}`
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
    case 'float64':
      if (typeof value === 'number') return undefined
      return `expected numeric (int or float), got ${goType(value)}`
    default:
      return undefined
  }
}

function lookAtMembers(type: Type, map: JsonMap, path: string, problems: Problem[]): void {
  for (const name of Object.keys(map).sort(compareText)) {
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

/** `%T` */
function goType(value: Json): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : 'string'
}

/** `%v` */
export function goValue(value: Json): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  const names = Object.keys(value).sort(compareText)
  return `map[${names.map((name) => `${name}:${goValue(value[name] as Json)}`).join(' ')}]`
}

/** `%#v` */
function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  const names = Object.keys(value).sort(compareText)
  const members = names.map((name) => `${goQuote(name)}:${goSyntax(value[name] as Json)}`)
  return `map[string]interface {}{${members.join(', ')}}`
}
