/** Generates the parts of /openapi/v2, a single document with all paths and definitions. */
import type { Kind } from '#kinds/kind.ts'
import {
  eachDefinition,
  groupVersionKinds,
  namesIn,
  neededByOwn,
  ownDefinitions,
  ownNames,
} from './definitions.ts'
import { rootOperations } from './group-operations.ts'
import { kindOperations } from './kind-operations.ts'
import type { DescribedKind } from './marked-kind.ts'
import { type OpenApiOperation, reasonPhrases } from './operation.ts'
import { byName, discoveryOperations, type PathForm, pathsOf } from './paths.ts'
import type { Parameter } from './parameters.ts'
import { form2 } from './schema-form.ts'
import { documentInfo, type JsonObject, type OpenApiSource, securityDescription } from './source.ts'

/** The members of the document in order; paths and definitions are still empty. */
export function aroundV2(source: OpenApiSource): JsonObject {
  const token = { type: 'apiKey', name: 'authorization', in: 'header' }
  return {
    swagger: '2.0',
    info: documentInfo(source),
    paths: {},
    definitions: {},
    securityDefinitions: { BearerToken: { description: securityDescription, ...token } },
    security: [{ BearerToken: [] }],
  }
}

/**
 * Yields the built-in part of the document: the paths of each kind, then the definitions that they
 * and `also` refer to.
 */
export function* builtInV2(
  source: OpenApiSource,
  kinds: readonly Kind[],
  also: Iterable<string>,
): Iterable<{ which: 'paths' | 'definitions'; members: JsonObject }> {
  const names = new Set(also)
  const ways = [
    () => [...rootOperations(source), ...discoveryOperations(source)],
    ...kinds.map((kind) => () => kindOperations(source, kind)),
  ]
  for (const operationsOf of ways) {
    const operations = operationsOf()
    for (const name of namesIn(operations)) names.add(name)
    yield { which: 'paths', members: pathsOf(operations, pathForm) }
  }
  const gvks = groupVersionKinds(source)
  for (const [name, one] of eachDefinition(names, kinds, source, gvks, form2)) {
    yield { which: 'definitions', members: { [name]: one } }
  }
}

/**
 * The paths of one custom kind, and the shared definitions that these paths and its own definitions
 * refer to.
 */
export function pathsAdded(
  source: OpenApiSource,
  kind: DescribedKind,
): { paths: JsonObject; needs: readonly string[] } {
  const operations = kindOperations(source, kind)
  const names = namesIn(operations)
  for (const name of ownNames(source, kind)) names.delete(name)
  return { paths: pathsOf(operations, pathForm), needs: [...names, ...neededByOwn] }
}

/** The definitions that a custom kind adds. */
export const definitionsAdded = (source: OpenApiSource, kind: Kind): JsonObject =>
  Object.fromEntries(ownDefinitions(kind, source, form2).map(([name, make]) => [name, make()]))

/**
 * Caches parameters in the form of OpenAPI v2. They are frozen so that the serialiser can cache
 * their text.
 */
const shown = new WeakMap<Parameter, JsonObject>()

function shownParameter(parameter: Parameter): JsonObject {
  let found = shown.get(parameter)
  if (found === undefined) {
    found = Object.freeze({
      uniqueItems: true,
      type: parameter.type,
      ...(parameter.description === '' ? undefined : { description: parameter.description }),
      name: parameter.name,
      in: parameter.in,
      ...(parameter.in === 'path' ? { required: true } : undefined),
    })
    shown.set(parameter, found)
  }
  return found
}

export const pathForm: PathForm = {
  parameter: shownParameter,
  operation(one, parameters) {
    if (one.body !== undefined) {
      const body: JsonObject = { name: 'body', in: 'body', schema: form2.refer(one.body.type, {}) }
      parameters.push(one.body.required ? { ...body, required: true } : body)
    }
    return {
      description: one.description,
      ...(one.consumes === undefined ? undefined : { consumes: [...one.consumes] }),
      ...(one.produces === undefined ? undefined : { produces: [...one.produces] }),
      schemes: ['https'],
      tags: [one.tag],
      operationId: one.id,
      ...(parameters.length > 0 ? { parameters: byName(parameters) } : undefined),
      responses: responsesOf(one),
      ...(one.action === undefined ? undefined : { 'x-kubernetes-action': one.action }),
      ...(one.gvk === undefined
        ? undefined
        : { 'x-kubernetes-group-version-kind': { ...one.gvk } }),
    }
  },
}

function responsesOf({ codes, answer }: OpenApiOperation): JsonObject {
  const responses: JsonObject = {}
  for (const code of codes) {
    const response: JsonObject = { description: reasonPhrases[code] }
    if (answer === 'string') response.schema = { type: 'string' }
    else if (answer !== undefined) response.schema = form2.refer(answer, {})
    responses[code] = response
  }
  responses[401] = { description: reasonPhrases[401] }
  return responses
}
