/**
 * Groups operations by path. A parameter that all methods of a path have appears once, for the
 * path.
 */
import type { Json } from '#api/object-meta.ts'
import { groupOperation, groupVersionOperation } from './group-operations.ts'
import type { OpenApiOperation } from './operation.ts'
import type { Parameter } from './parameters.ts'
import { isOfTables, type JsonObject, type OpenApiSource } from './source.ts'

/**
 * Operations that list the versions and resources of built-in groups. Documents of custom groups
 * omit discovery.
 */
export function discoveryOperations(source: OpenApiSource): OpenApiOperation[] {
  const versions = groupVersionsOf(source).filter(([group, version]) =>
    isOfTables(source, group, version),
  )
  const groups = new Set(versions.map(([group]) => group).filter((group) => group !== ''))
  return [
    ...[...groups].map((group) => groupOperation(source, group)),
    ...versions.map(([group, version]) => groupVersionOperation(source, group, version)),
  ]
}

/** The served group versions, those of the core group first. */
export const groupVersionsOf = (source: OpenApiSource): [group: string, version: string][] => [
  ['', 'v1'],
  ...[...source.groups].flatMap(([group, versions]) =>
    versions.map((version): [string, string] => [group, version]),
  ),
]

/** Equal parameters are the same object. */
function sharedParameters(operations: readonly OpenApiOperation[]): Parameter[] {
  const [first, ...others] = operations
  return first.parameters.filter((one) =>
    others.every(({ parameters }) => parameters.includes(one)),
  )
}

/** How an OpenAPI version describes an operation and its parameters. */
export interface PathForm {
  parameter(parameter: Parameter): JsonObject
  operation(one: OpenApiOperation, parameters: JsonObject[]): JsonObject
}

export function pathsOf(operations: readonly OpenApiOperation[], form: PathForm): JsonObject {
  const byPath = Map.groupBy(operations, ({ path }) => path)
  const paths: JsonObject = {}
  for (const path of [...byPath.keys()].sort()) {
    const methods = byPath.get(path) as OpenApiOperation[]
    const shared = sharedParameters(methods)
    const item: JsonObject = {}
    for (const one of methods) {
      const own = one.parameters.filter((parameter) => !shared.includes(parameter))
      item[one.method] = form.operation(one, own.map(form.parameter))
    }
    if (shared.length > 0) item.parameters = byName(shared.map(form.parameter))
    paths[path] = item
  }
  return paths
}

export const byName = (parameters: JsonObject[]): JsonObject[] =>
  parameters.sort((a, b) => order(a.name, b.name) || order(a.in, b.in))

const order = (a: Json, b: Json): number => ((a as string) < (b as string) ? -1 : a === b ? 0 : 1)
