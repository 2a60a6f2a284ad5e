/**
 * Converts OpenAPI v2 to v3, for servers that publish only v2. Like kube-apiserver's conversion it
 * loses information: shared parameters, and everything except type and format of a simple
 * parameter.
 */
import type { Json } from '#api/object-meta.ts'
import { isObject, type JsonObject } from '#schema/misfit.ts'

/** Converts every value; drops values that are not objects. */
const eachOf = (
  value: Json | undefined,
  make: (one: JsonObject) => JsonObject,
): JsonObject | undefined =>
  value !== undefined && isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, one]) => (isObject(one) ? [[key, make(one)]] : [])),
      )
    : undefined

const listOf = (
  value: Json | undefined,
  make: (one: JsonObject) => JsonObject,
): JsonObject[] | undefined =>
  Array.isArray(value) ? value.filter((one) => isObject(one)).map(make) : undefined

/** The named fields of an object, and its extensions. */
function picked(from: JsonObject, ...names: string[]): JsonObject {
  const isPicked = (key: string) => names.includes(key) || key.startsWith('x-')
  return Object.fromEntries(Object.entries(from).filter(([key]) => isPicked(key)))
}

/** Removes undefined fields. */
const present = (fields: { [key: string]: unknown }): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as JsonObject

export function convertDocument(document: JsonObject): JsonObject {
  const { info, externalDocs, paths, securityDefinitions, definitions, responses, produces } =
    document
  return present({
    openapi: '3.0.0',
    info,
    externalDocs,
    paths: eachOf(paths, pathItem),
    components: present({
      schemas: eachOf(definitions, schema),
      securitySchemes: eachOf(securityDefinitions, securityScheme),
      responses: eachOf(responses, (one) => response(one, produces)),
    }),
  })
}

const [oldPlace, newPlace] = ['#/definitions/', '#/components/schemas/']

function schema(old: JsonObject): JsonObject {
  const { $ref, properties, items, additionalProperties, additionalItems, ...rest } = old
  const made = present({
    ...rest,
    properties: eachOf(properties, schema),
    items: Array.isArray(items) ? listOf(items, schema) : schemaOr(items),
    additionalProperties: schemaOr(additionalProperties),
    additionalItems: schemaOr(additionalItems),
  })
  if (typeof $ref !== 'string') return made
  const moved = { $ref: $ref.replace(oldPlace, newPlace) }
  // OpenAPI v3 allows no fields next to a reference.
  return Object.keys(made).length === 0 ? moved : { ...made, allOf: [moved] }
}

const schemaOr = (value: Json | undefined) =>
  value !== undefined && isObject(value) ? schema(value) : value

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

function pathItem(old: JsonObject): JsonObject {
  const made: [string, unknown][] = []
  for (const method of methods) {
    const one = old[method]
    if (isObject(one)) made.push([method, operation(one)])
  }
  const parameters = listOf(old.parameters, parameter)
  return present({ ...picked(old, '$ref'), ...Object.fromEntries(made), parameters })
}

function operation(old: JsonObject): JsonObject {
  const { consumes, produces } = old
  const all = Array.isArray(old.parameters) ? old.parameters.filter(isObject) : []
  const isBody = (one: JsonObject) => one.name === 'body' && isObject(one.schema)
  const body = all.find(isBody)
  const others = all.filter((one) => !isBody(one)).map(parameter)
  return present({
    ...picked(old, 'description', 'externalDocs', 'tags', 'summary', 'deprecated', 'operationId'),
    requestBody: body && present({ content: contentOf(body, consumes) }),
    parameters: others.length > 0 ? others : undefined,
    responses: eachOf(old.responses, (one) => response(one, produces)),
  })
}

/** A schema for each media type; undefined if there are none. */
const contentOf = ({ schema: of }: JsonObject, mediaTypes: Json | undefined) =>
  isObject(of) && Array.isArray(mediaTypes)
    ? Object.fromEntries(mediaTypes.map((type) => [String(type), { schema: schema(of) }]))
    : undefined

function response(old: JsonObject, produces: Json | undefined): JsonObject {
  if (typeof old.$ref === 'string') return referTo(old.$ref, 'responses')
  return present({ ...picked(old, 'description'), content: contentOf(old, produces) })
}

function parameter(old: JsonObject): JsonObject {
  if (typeof old.$ref === 'string') return referTo(old.$ref, 'parameters')
  const { type, format, uniqueItems } = old
  return {
    ...picked(old, 'name', 'description', 'in', 'required', 'allowEmptyValue'),
    schema: (schemaOr(old.schema) ?? present({ type, format, uniqueItems })) as Json,
  }
}

const referTo = (ref: string, part: string): JsonObject => ({
  $ref: ref.replace(`#/${part}/`, `#/components/${part}/`),
})

function securityScheme(old: JsonObject): JsonObject {
  const { flow, authorizationUrl, tokenUrl, scopes } = old
  const made = picked(old, 'description', 'type', 'name', 'in')
  if (typeof flow !== 'string' || flow === '') return made
  return { ...made, flows: { [flow]: present({ authorizationUrl, tokenUrl, scopes }) as Json } }
}
