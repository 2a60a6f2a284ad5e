/**
 * Operations put together by path. Parameters that all methods of a path take are said once, for the path.
 */
import type { Kind } from '#kinds/kind.ts'
import { groupOperation, groupVersionOperation, rootOperations } from './group-operations.ts'
import { kindOperations } from './kind-operations.ts'
import type { Operation } from './operation.ts'
import type { Parameter } from './parameters.ts'
import { isOfTables, type JsonObject, type OpenApiSource } from './source.ts'

/** Every operation there is on these kinds, and those of discovery. */
export function allOperations(
  source: OpenApiSource,
  kinds: readonly Kind[] = source.kinds,
): Operation[] {
  return [
    ...rootOperations(source),
    ...discoveryOperations(source),
    ...kinds.flatMap((kind) => kindOperations(source, kind)),
  ]
}

/** What lists the versions and resources of built-in groups; custom ones do not describe their discovery. */
function discoveryOperations(source: OpenApiSource): Operation[] {
  const versions = groupVersionsOf(source).filter(([group, version]) =>
    isOfTables(source, group, version),
  )
  const groups = new Set(versions.map(([group]) => group).filter((group) => group !== ''))
  return [
    ...[...groups].map(groupOperation),
    ...versions.map(([group, version]) => groupVersionOperation(group, version)),
  ]
}

/** The group versions served, the core one first. */
export const groupVersionsOf = (source: OpenApiSource): [group: string, version: string][] => [
  ['', 'v1'],
  ...[...source.groups].flatMap(([group, versions]) =>
    versions.map((version): [string, string] => [group, version]),
  ),
]

const keyOf = (parameter: Parameter) => `${parameter.name} ${parameter.in}`

function sharedParameters(operations: readonly Operation[]): Parameter[] {
  const [first, ...others] = operations
  const keys = others.map(({ parameters }) => new Set(parameters.map(keyOf)))
  return first.parameters.filter((one) => keys.every((known) => known.has(keyOf(one))))
}

/** How one form of OpenAPI writes an operation and its parameters. */
export interface PathForm {
  parameter(parameter: Parameter): JsonObject
  operation(one: Operation, parameters: JsonObject[]): JsonObject
}

export function pathsOf(operations: readonly Operation[], form: PathForm): JsonObject {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  const paths: JsonObject = {}
  for (const path of [...byPath.keys()].sort()) {
    const methods = byPath.get(path) as Operation[]
    const shared = sharedParameters(methods)
    const isShared = new Set(shared.map(keyOf))
    const item: JsonObject = {}
    for (const one of methods) {
      const own = one.parameters.filter((parameter) => !isShared.has(keyOf(parameter)))
      item[one.method] = form.operation(one, own.map(form.parameter))
    }
    if (shared.length > 0) item.parameters = byName(shared.map(form.parameter))
    paths[path] = item
  }
  return paths
}

export const byName = (parameters: JsonObject[]): JsonObject[] =>
  parameters.sort((a, b) => {
    const [left, right] = [`${a.name} ${a.in}`, `${b.name} ${b.in}`]
    return left < right ? -1 : left > right ? 1 : 0
  })
