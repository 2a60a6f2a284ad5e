/** Generates the OpenAPI document of the control API from its operations. */
import type { ValueSchema } from '#testing/value-schema.ts'
import { type ControlOperation, operations } from './operations.ts'

export const controlPrefix = '/testing/v1'

const inPath = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** The schema of the body of an operation. */
export const bodySchema = ({ body = {}, required }: ControlOperation): ValueSchema => ({
  type: 'object',
  properties: body,
  ...(required && { required }),
  additionalProperties: false,
})

function operationDocument(operation: ControlOperation) {
  const { path, summary, body } = operation
  const parameters = inPath(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const schema = bodySchema(operation)
  return {
    summary,
    parameters,
    ...(body !== undefined && { requestBody: { content: { 'application/json': { schema } } } }),
    responses: {
      200: { description: 'Done.', content: { 'application/json': {} } },
      default: {
        description: 'Not done; `error` says why.',
        content: {
          'application/json': {
            schema: { type: 'object', properties: { error: { type: 'string' } } },
          },
        },
      },
    },
  }
}

export function controlDocument(version: string) {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const path = `${controlPrefix}${operation.path}`
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: operationDocument(operation),
    }
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Binnacle test server', version },
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths,
  }
}
