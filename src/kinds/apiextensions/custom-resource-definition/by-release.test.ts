/** Rules for definitions on both sides of the release that changed them. */
import { messageWithJson } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { checkBoundaries } from '#api/releases/boundary.suite.ts'
import { releaseOf } from '#api/releases/change.ts'
import { contextFor } from '#kinds/all-kinds/behaviour.suite.ts'
import type { JsonSchema, ValidationRule } from '#schema/structural/json-schema.ts'
import { customResourceDefinitionBehaviour as behaviour } from './behaviour.ts'
import { versionsValue } from './go-values.ts'
import { ruleValue } from './rule-values.ts'

const contextIn = (release: number) =>
  contextFor({ release, requestApiVersion: 'apiextensions.k8s.io/v1' }, [
    'CustomResourceValidationExpressions',
  ])

function definition(spec: JsonSchema): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com', resourceVersion: '1' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
      conversion: { strategy: 'None' },
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  }
}

const costly: JsonSchema = {
  type: 'array',
  items: { type: 'string' },
  'x-kubernetes-validations': [
    { rule: "self.all(x, x == 'a' || x == 'b' || x == 'c' || x == 'd')" },
  ],
}
const root = 'spec.validation.openAPIV3Schema'

/** What an update that changes only a label reports about a stored schema. */
function fieldsOfErrors(release: number, schema: JsonSchema): string[] {
  const [next, old] = [definition(schema), definition(structuredClone(schema))]
  next.metadata.labels = { a: 'b' }
  const errors = behaviour.validateUpdate?.(next, old, contextIn(release)) ?? []
  return errors.map((error) => `${error.field}: ${messageWithJson(error).split(':')[0]}`)
}
checkBoundaries(fieldsOfErrors, [
  [
    'a definition keeps a rule that is too expensive',
    [28, 29],
    costly,
    [`${root}.properties[spec].x-kubernetes-validations[0].rule: Forbidden`],
    [],
  ],
])

const version = { name: 'v1', served: true, storage: false, selectableFields: [{ jsonPath: '.a' }] }
const shownBefore =
  '[]apiextensions.CustomResourceDefinitionVersion{apiextensions.CustomResourceDefinitionVersion{Name:"v1", Served:true, Storage:false, Deprecated:false, DeprecationWarning:(*string)(nil), Schema:(*apiextensions.CustomResourceValidation)(nil), Subresources:(*apiextensions.CustomResourceSubresources)(nil), AdditionalPrinterColumns:[]apiextensions.CustomResourceColumnDefinition(nil)'
checkBoundaries<Loose[], string>(
  (release, versions) => `${versionsValue(versions, release)}`,
  [
    [
      'errors show the selectable fields of versions',
      [29, 30],
      [version],
      `${shownBefore}}}`,
      `${shownBefore}, SelectableFields:[]apiextensions.SelectableField{apiextensions.SelectableField{JSONPath:".a"}}}}`,
    ],
  ],
)

const ruleBefore =
  'apiextensions.ValidationRule{Rule:"x", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:""'
checkBoundaries<ValidationRule, string>(
  (release, rule) => `${ruleValue(rule, releaseOf(release))}`,
  [
    [
      'errors show optionalOldSelf of rules',
      [28, 29],
      { rule: 'x', optionalOldSelf: true },
      `${ruleBefore}}`,
      `${ruleBefore}, OptionalOldSelf:(*bool)(0xc000000000)}`,
    ],
  ],
)
