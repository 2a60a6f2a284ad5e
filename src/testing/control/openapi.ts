/** Generates the OpenAPI document of the control API from its operations. */
import { type ControlOperation, operations } from './operations.ts'

export const controlPrefix = '/testing/v1'

const inPath = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

function operationDocument({ path, summary, body }: ControlOperation) {
  const parameters = inPath(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const schema = { type: 'object', properties: body, additionalProperties: false }
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
