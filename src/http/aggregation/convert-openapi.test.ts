import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertDocument } from './convert-openapi.ts'

const $ref = '#/definitions/Spec'
const moved = { $ref: '#/components/schemas/Spec' }
const ok = { description: 'OK', schema: { $ref } }

const parts: [what: string, old: object, want: object][] = [
  [
    'a document has its media type',
    { swagger: '2.0', info: { title: 'Old' }, security: [], parameters: { p: { name: 'p' } } },
    { info: { title: 'Old' }, components: {} },
  ],
  [
    'references are moved and have no siblings',
    {
      definitions: {
        Thing: {
          type: 'object',
          properties: { a: { $ref }, b: { $ref, description: 'b' }, c: { items: { $ref } } },
          additionalProperties: { $ref },
        },
        Open: { additionalProperties: true, 'x-kubernetes-thing': 1 },
      },
    },
    {
      components: {
        schemas: {
          Thing: {
            type: 'object',
            properties: {
              a: moved,
              b: { description: 'b', allOf: [moved] },
              c: { items: moved },
            },
            additionalProperties: moved,
          },
          Open: { additionalProperties: true, 'x-kubernetes-thing': 1 },
        },
      },
    },
  ],
  [
    'bodies and responses have a schema for each media type, parameters have one schema',
    {
      paths: {
        '/a': {
          parameters: [{ name: 'n', in: 'path', type: 'string', uniqueItems: true, maxLength: 5 }],
          put: {
            operationId: 'put',
            schemes: ['https'],
            consumes: ['application/json'],
            produces: ['application/json', 'application/yaml'],
            parameters: [
              { name: 'body', in: 'body', schema: { $ref } },
              { $ref: '#/parameters/p' },
            ],
            responses: { 200: ok, 401: { description: 'no' }, 404: { $ref: '#/responses/none' } },
            'x-kubernetes-action': 'put',
          },
        },
      },
    },
    {
      paths: {
        '/a': {
          parameters: [{ name: 'n', in: 'path', schema: { type: 'string', uniqueItems: true } }],
          put: {
            operationId: 'put',
            requestBody: { content: { 'application/json': { schema: moved } } },
            parameters: [{ $ref: '#/components/parameters/p' }],
            responses: {
              200: {
                description: 'OK',
                content: {
                  'application/json': { schema: moved },
                  'application/yaml': { schema: moved },
                },
              },
              401: { description: 'no' },
              404: { $ref: '#/components/responses/none' },
            },
            'x-kubernetes-action': 'put',
          },
        },
      },
      components: {},
    },
  ],
  [
    'security definitions',
    {
      securityDefinitions: {
        token: { type: 'apiKey', name: 'authorization', in: 'header' },
        other: { type: 'oauth2', flow: 'implicit', authorizationUrl: 'u', scopes: { a: 'b' } },
      },
    },
    {
      components: {
        securitySchemes: {
          token: { type: 'apiKey', name: 'authorization', in: 'header' },
          other: {
            type: 'oauth2',
            flows: { implicit: { authorizationUrl: 'u', scopes: { a: 'b' } } },
          },
        },
      },
    },
  ],
]

for (const [what, old, want] of parts) {
  test(`OpenAPI v2 as v3: ${what}`, () => {
    const made = convertDocument(JSON.parse(JSON.stringify(old)))
    assert.deepEqual(JSON.parse(JSON.stringify(made)), { openapi: '3.0.0', ...want })
  })
}

test('keys with any name survive the conversion', () => {
  const made = convertDocument(JSON.parse('{"definitions":{"__proto__":{"type":"object"}}}'))
  assert.equal(
    JSON.stringify(made),
    '{"openapi":"3.0.0","components":{"schemas":{"__proto__":{"type":"object"}}}}',
  )
})
