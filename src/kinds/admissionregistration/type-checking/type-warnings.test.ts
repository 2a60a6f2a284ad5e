/** Type checking of policies: for which kinds, which expressions, and with what warnings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { type KindName, typeWarnings } from './type-warnings.ts'

const text: JsonSchema = { type: 'string' }
const spec: JsonSchema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    labels: { type: 'object', additionalProperties: text },
    port: { 'x-kubernetes-int-or-string': true },
    namespace: text,
  },
}
const widget: JsonSchema = { type: 'object', properties: { spec } }
const limit: JsonSchema = { type: 'object', properties: { max: { type: 'integer' } } }
const names: KindName[] = [
  { group: 'apps', version: 'v1', kind: 'Widget' },
  { group: '', version: 'v1', kind: 'Gadget' },
]
const schemas: Readonly<Record<string, JsonSchema>> = {
  Widget: widget,
  Gadget: { type: 'object' },
  Limit: limit,
}

const served = {
  kindsFor: (group: string, version: string, resource: string) =>
    names.filter(
      (one) =>
        one.group === group && one.version === version && `${one.kind.toLowerCase()}s` === resource,
    ),
  schemaOf: ({ kind }: KindName) => schemas[kind],
  randomNumber: () => 7,
}

const widgets = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['widgets', 'widgets/status'],
}
const gadgets = { apiGroups: [''], apiVersions: ['v1'], resources: ['gadgets'] }
const at = (rules: Loose[], validation: Loose, more: Loose = {}): Loose => ({
  matchConstraints: { resourceRules: rules },
  validations: [validation],
  ...more,
})
const limited = (kind: string, expression: string) =>
  at([widgets], { expression }, { paramKind: { apiVersion: 'v1', kind } })

interface Case {
  readonly title: string
  readonly spec: Loose
  readonly expected: readonly (readonly [field: string, warning: string])[]
  readonly minor?: number
}

const expression = 'spec.validations[0].expression'
const undefinedField = (kind: string, column: number, field: string, shown: string) =>
  `${kind}: ERROR: <input>:1:${column}: undefined field '${field}'\n | ${shown}\n | ${'.'.repeat(column - 1)}^\n`
const widgetKind = 'apps/v1, Kind=Widget'

const cases: Case[] = [
  {
    title: 'a right one',
    spec: at([widgets], { expression: "object.spec.replicas > 1 && object.metadata.name == 'a'" }),
    expected: [],
  },
  {
    title: 'a field that does not exist',
    spec: at([widgets], { expression: 'object.spec.replicaz > 1' }),
    expected: [
      [expression, undefinedField(widgetKind, 12, 'replicaz', 'object.spec.replicaz > 1')],
    ],
  },
  {
    title: 'a wrong type',
    spec: at([widgets], { expression: "object.spec == 'x'" }),
    expected: [
      [
        expression,
        `${widgetKind}: ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(Widget7.spec, string)'\n | object.spec == 'x'\n | ............^\n`,
      ],
    ],
  },
  {
    title: 'values of any type',
    spec: at([widgets], { expression: "object.spec.port == 'x' || object.spec.port == 1" }),
    expected: [],
  },
  {
    title: 'a field with a reserved name',
    spec: at([widgets], { expression: "object.spec.__namespace__ == 'x'" }),
    expected: [],
  },
  {
    title: 'a message expression',
    spec: at([widgets], { expression: 'true', messageExpression: 'object.none' }),
    expected: [
      [
        'spec.validations[0].messageExpression',
        undefinedField(widgetKind, 7, 'none', 'object.none'),
      ],
    ],
  },
  {
    title: 'kinds in the order of their names',
    spec: at([widgets, gadgets], { expression: 'has(object.none)' }),
    expected: [
      [
        expression,
        [
          undefinedField('/v1, Kind=Gadget', 4, 'none', 'has(object.none)'),
          undefinedField(widgetKind, 4, 'none', 'has(object.none)'),
        ].join('\n'),
      ],
    ],
  },
  {
    title: 'no check with a wildcard',
    spec: at([{ ...widgets, apiGroups: ['apps', '*'] }], { expression: 'object.none' }),
    expected: [],
  },
  {
    title: 'variables',
    spec: at(
      [widgets],
      { expression: "variables.count == 'x'" },
      { variables: [{ name: 'count', expression: 'object.spec.replicas' }] },
    ),
    expected: [
      [
        expression,
        `${widgetKind}: ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(int, string)'\n | variables.count == 'x'\n | ................^\n`,
      ],
    ],
  },
  {
    title: 'parameters',
    spec: limited('Limit', 'object.spec.replicas < params.max && params.none'),
    expected: [
      [
        expression,
        undefinedField(widgetKind, 44, 'none', 'object.spec.replicas < params.max && params.none'),
      ],
    ],
  },
  { title: 'parameters of an unknown kind', spec: limited('None', 'params.none'), expected: [] },
  {
    title: 'parameters of an unknown kind in 1.35',
    spec: limited('None', 'params.none'),
    minor: 35,
    expected: [
      [
        expression,
        `${widgetKind}: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.none\n | ^\n`,
      ],
    ],
  },
  {
    title: 'parameters of an unknown kind in 1.36',
    spec: limited('None', 'params.none'),
    minor: 36,
    expected: [],
  },
]

for (const { title, spec, expected, minor = 37 } of cases)
  test(`type checking: ${title}`, () => {
    const warnings = typeWarnings(spec, served, releaseOf(minor))
    assert.deepEqual(
      warnings,
      expected.map(([fieldRef, warning]) => ({ fieldRef, warning })),
    )
  })
