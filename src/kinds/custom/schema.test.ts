/** Checks of custom objects on both sides of the release that changed them. */
import { type BoundaryRow, checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { FieldError } from '#api/field-error.ts'
import type { Json, KubeObject } from '#api/object-meta.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import type { Type } from '#schema/type.ts'
import { untimed } from './rules/rule-timer.ts'
import { CustomSchema } from './schema.ts'

const numbers: JsonSchema = { type: 'array', items: { type: 'integer' } }
const uniqueNumbers: JsonSchema = { ...numbers, 'x-kubernetes-list-type': 'set' }
const count: JsonSchema = { type: 'integer', maximum: 1 }
const part = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
})
const spec = part({ count, list: uniqueNumbers })
const whole: JsonSchema = {
  type: 'object',
  properties: { spec, status: spec },
  required: ['spec'],
}
const objectMeta: Type = { is: 'untyped' }

const gear = (parts: Record<string, Json>): KubeObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'g' }, ...parts }) as KubeObject
const shown = (errors: readonly FieldError[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`)

type Check = (schema: CustomSchema) => readonly FieldError[]
const twice = [1, 1]
const duplicate = 'list[1]: Duplicate value: 1'
const tooMany = 'count: Invalid value: 2: count in body should be less than or equal to 1'

/** The errors of a write, by what is written. */
const checks = {
  'an item of a set twice in the spec': (schema) =>
    schema.checkStructure(gear({ spec: { list: twice } }), undefined),
  'an item of a set twice in a written status': (schema) =>
    schema.checkStatusStructure(gear({ spec: {}, status: { list: twice } }), undefined),
  'a written status without the spec': (schema) => schema.checkStatus(gear({ status: {} })),
  'a wrong value in a written status': (schema) =>
    schema.checkStatus(gear({ spec: {}, status: { count: 2 } })),
  'a wrong value that a write of the status keeps': (schema) => {
    const object = gear({ spec: {}, status: { count: 2 } })
    return schema.checkStatus(object, schema.correlate(object, object, true))
  },
} satisfies Record<string, Check>

const row = (
  what: keyof typeof checks,
  boundary: [number, number],
  before: string[],
  since: string[],
): BoundaryRow<keyof typeof checks, string[]> => [what, boundary, what, before, since]

checkBoundaries<keyof typeof checks, string[]>(
  (minor, what) => {
    const release = releaseOf(minor)
    const rules = { release, ratchets: true, timed: untimed }
    return shown(checks[what](new CustomSchema(whole, objectMeta, false, release, rules)))
  },
  [
    row('an item of a set twice in the spec', [17, 18], [], [`spec.${duplicate}`]),
    row('an item of a set twice in a written status', [25, 26], [], [`status.${duplicate}`]),
    row('a written status without the spec', [27, 28], ['spec: Required value'], []),
    row('a wrong value in a written status', [30, 31], [tooMany], [`status.${tooMany}`]),
    row('a wrong value that a write of the status keeps', [32, 33], [`status.${tooMany}`], []),
  ],
)
