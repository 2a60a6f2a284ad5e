/**
 * The JSON of one path of a document. Most of it consists of recurring parameters, so each frozen
 * parameter is serialised once and cached. A parameter that is not frozen may change, so it is
 * serialised each time.
 */
import type { Json } from '#api/object-meta.ts'
import type { JsonObject } from './source.ts'

const written = new WeakMap<object, string>()

function parameterText(parameter: Json): string {
  if (!Object.isFrozen(parameter)) return JSON.stringify(parameter)
  const shared = parameter as object
  let text = written.get(shared)
  if (text === undefined) {
    text = JSON.stringify(shared)
    written.set(shared, text)
  }
  return text
}

/** The same as JSON.stringify. */
export const pathText = (item: JsonObject): string =>
  members(item, (name, value) =>
    name === 'parameters' ? parametersText(value as Json[]) : operationText(value as JsonObject),
  )

const operationText = (operation: JsonObject): string =>
  members(operation, (name, value) =>
    name === 'parameters' ? parametersText(value as Json[]) : JSON.stringify(value),
  )

const parametersText = (parameters: readonly Json[]): string =>
  `[${parameters.map(parameterText).join(',')}]`

function members(object: JsonObject, textOf: (name: string, value: Json) => string): string {
  const texts = Object.entries(object).map(([name, value]) => `"${name}":${textOf(name, value)}`)
  return `{${texts.join(',')}}`
}
