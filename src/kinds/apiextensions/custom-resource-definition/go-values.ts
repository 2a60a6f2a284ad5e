/** Parts of definitions in Go syntax, for the few messages that show a whole structure. */
import {
  asGo,
  type GoPart,
  type GoText,
  goJson,
  goMap,
  goFloat,
  goList,
  goPointer,
  goQuote,
  goStrings,
  goStruct,
  goUntyped,
} from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { wasWrittenEmpty } from '#api/written-empty.ts'

const type = (name: string) => `apiextensions.${name}`
const text = (value: unknown) => goQuote(typeof value === 'string' ? value : '')
const flag = (value: unknown) => String(value === true)

const showColumn = (column: Loose): GoText =>
  goStruct(type('CustomResourceColumnDefinition'), [
    ['Name', text(column.name)],
    ['Type', text(column.type)],
    ['Format', text(column.format)],
    ['Description', text(column.description)],
    ['Priority', String(column.priority ?? 0)],
    ['JSONPath', text(column.JSONPath)],
  ])

/** A field's value, and an empty list where one was written. */
const listIn = (holder: Loose, key: string): Loose =>
  holder[key] ?? (wasWrittenEmpty(holder, key) ? [] : undefined)

const versionsCanBeDeprecated = change('versions of a definition can be deprecated', { since: 19 })
const versionsSelectFields = change('versions of definitions have selectable fields', { since: 30 })
const deprecation = ({ deprecated, deprecationWarning }: Loose): [string, GoPart][] => [
  ['Deprecated', flag(deprecated)],
  ['DeprecationWarning', goPointer('string', deprecationWarning)],
]

/** A version in the beta's form. */
const showVersion = (version: Loose, release: number): GoText =>
  goStruct(type('CustomResourceDefinitionVersion'), [
    ['Name', text(version.name)],
    ['Served', flag(version.served)],
    ['Storage', flag(version.storage)],
    ...(releaseOf(release).has(versionsCanBeDeprecated) ? deprecation(version) : []),
    ['Schema', goPointer(type('CustomResourceValidation'), version.schema)],
    ['Subresources', goPointer(type('CustomResourceSubresources'), version.subresources)],
    [
      'AdditionalPrinterColumns',
      goList(
        type('CustomResourceColumnDefinition'),
        listIn(version, 'additionalPrinterColumns')?.map(showColumn),
      ),
    ],
    ...(releaseOf(release).has(versionsSelectFields) ? selectableFields(version) : []),
  ])

const selectableFields = (version: Loose): [string, GoPart][] => {
  const shown = listIn(version, 'selectableFields')?.map(({ jsonPath }: Loose) =>
    goStruct(type('SelectableField'), [['JSONPath', text(jsonPath)]]),
  )
  return [['SelectableFields', goList(type('SelectableField'), shown)]]
}

export const versionValue = (version: Loose, release: number): GoText =>
  asGo(showVersion(version, release))
export const versionsValue = (versions: Loose[] | null | undefined, release: number): GoText => {
  const shown = versions?.map((one) => showVersion(one, release))
  return asGo(goList(type('CustomResourceDefinitionVersion'), shown))
}
export const stringsValue = (list: readonly string[] | null | undefined): GoText =>
  asGo(goStrings(list))

/** The fields of JSONSchemaProps in Go's order: Go name, JSON key and Go type. */
const schemaFields: readonly (readonly [string, string, string])[] = [
  ['ID', 'id', 'text'],
  ['Schema', '$schema', 'text'],
  ['Ref', '$ref', '*string'],
  ['Description', 'description', 'text'],
  ['Type', 'type', 'text'],
  ['Nullable', 'nullable', 'flag'],
  ['Format', 'format', 'text'],
  ['Title', 'title', 'text'],
  ['Default', 'default', '*apiextensions.JSON'],
  ['Maximum', 'maximum', '*float64'],
  ['ExclusiveMaximum', 'exclusiveMaximum', 'flag'],
  ['Minimum', 'minimum', '*float64'],
  ['ExclusiveMinimum', 'exclusiveMinimum', 'flag'],
  ['MaxLength', 'maxLength', '*int64'],
  ['MinLength', 'minLength', '*int64'],
  ['Pattern', 'pattern', 'text'],
  ['MaxItems', 'maxItems', '*int64'],
  ['MinItems', 'minItems', '*int64'],
  ['UniqueItems', 'uniqueItems', 'flag'],
  ['MultipleOf', 'multipleOf', '*float64'],
  ['Enum', 'enum', '[]apiextensions.JSON'],
  ['MaxProperties', 'maxProperties', '*int64'],
  ['MinProperties', 'minProperties', '*int64'],
  ['Required', 'required', 'strings'],
  ['Items', 'items', '*apiextensions.JSONSchemaPropsOrArray'],
  ['AllOf', 'allOf', '[]apiextensions.JSONSchemaProps'],
  ['OneOf', 'oneOf', '[]apiextensions.JSONSchemaProps'],
  ['AnyOf', 'anyOf', '[]apiextensions.JSONSchemaProps'],
  ['Not', 'not', '*apiextensions.JSONSchemaProps'],
  ['Properties', 'properties', 'map[string]apiextensions.JSONSchemaProps'],
  ['AdditionalProperties', 'additionalProperties', '*apiextensions.JSONSchemaPropsOrBool'],
  ['PatternProperties', 'patternProperties', 'map[string]apiextensions.JSONSchemaProps'],
  ['Dependencies', 'dependencies', 'apiextensions.JSONSchemaDependencies'],
  ['AdditionalItems', 'additionalItems', '*apiextensions.JSONSchemaPropsOrBool'],
  ['Definitions', 'definitions', 'apiextensions.JSONSchemaDefinitions'],
  ['ExternalDocs', 'externalDocs', '*apiextensions.ExternalDocumentation'],
  ['Example', 'example', '*apiextensions.JSON'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', '*bool'],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', 'flag'],
  ['XIntOrString', 'x-kubernetes-int-or-string', 'flag'],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', 'strings'],
  ['XListType', 'x-kubernetes-list-type', '*string'],
  ['XMapType', 'x-kubernetes-map-type', '*string'],
]

/** Pairs of Go name and JSON key, in Go's order. */
export const schemaKeys: readonly (readonly [string, string])[] = schemaFields.map(
  ([name, key]) => [name, key],
)

function showField(is: string, value: unknown): GoPart {
  if (is === 'text') return text(value)
  if (is === 'flag') return flag(value)
  if (is === 'strings') return goStrings(value as string[] | undefined)
  if (is.startsWith('*')) return goPointer(is.slice(1), value)
  if (value === undefined || value === null) return asGo(`${is}(nil)`, 'null')
  if (is === '[]apiextensions.JSON')
    return goList('apiextensions.JSON', (value as unknown[]).map(showJson))
  if (is.startsWith('[]')) return goList(is.slice(2), (value as Loose[]).map(showSchema))
  const show = is === type('JSONSchemaDependencies') ? showDependency : showSchema
  return goMap(is, value as Record<string, Loose>, show)
}

const showDependency = (one: Loose): GoText =>
  goStruct(type('JSONSchemaPropsOrStringArray'), [
    ['Schema', goPointer(type('JSONSchemaProps'), Array.isArray(one) ? undefined : one)],
    ['Property', goStrings(Array.isArray(one) ? one : undefined)],
  ])

function showJson(value: unknown): GoPart {
  if (value === null) return asGo(`${type('JSON')}(nil)`, 'null')
  return asGo(typeof value === 'number' ? goFloat(value) : goUntyped(value), goJson(value))
}

const showSchema = (schema: Loose): GoText =>
  goStruct(
    type('JSONSchemaProps'),
    schemaFields.map(([name, key, is]) => [name, showField(is, listIn(schema, key))]),
  )

export const schemaValue = (schema: object): GoText => asGo(showSchema(schema as Loose))

/** Schemas for items by their place. */
export const itemsValue = (schemas: readonly object[]): GoText =>
  asGo(
    goStruct(type('JSONSchemaPropsOrArray'), [
      ['Schema', goPointer(type('JSONSchemaProps'), undefined)],
      [
        'JSONSchemas',
        goList(
          type('JSONSchemaProps'),
          schemas.length === 0 ? undefined : schemas.map((one) => showSchema(one as Loose)),
        ),
      ],
    ]),
  )
