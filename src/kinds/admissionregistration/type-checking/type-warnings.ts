/**
 * Type checking of a ValidatingAdmissionPolicy. Its expressions are compiled for each kind in its
 * rules, with the types of that kind. Type errors only become warnings in the status, because
 * requests are evaluated without types.
 *
 *   object.spec.replicaz > 1   for apps/v1 deployments →
 *   { fieldRef: 'spec.validations[0].expression',
 *     warning: "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'…" }
 */
import { groupOf, versionOf } from '#api/api-version.ts'
import { byCodePoint } from '#api/go-syntax.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { type CelType, dynType, type TypeProvider } from '#cel/cel-type.ts'
import { type SchemaType, schemaType, typesOf } from '#cel/schema-type.ts'
import type { JsonSchema } from '#schema/structural/json-schema.ts'
import { ExpressionCompiler } from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import { variableTypes } from '#kinds/admissionregistration/expressions/variable-types.ts'

export interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Access to the schemas of served kinds. */
export interface ServedSchemas {
  readonly kindsFor: (group: string, version: string, resource: string) => readonly KindName[]
  readonly schemaOf: (kind: KindName) => JsonSchema | undefined
  /** For type names, which are unique in each run. */
  readonly randomNumber: () => number
}

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** Limit of kinds that are checked for one rule. */
const kindsMax = 10

const declaresUnknownParams = change(
  'type checking of policies admits parameters of an unknown kind',
  { since: 36 },
)

interface KnownType {
  readonly type: CelType
  readonly fields: TypeProvider
}

export function typeWarnings(
  spec: Loose,
  schemas: ServedSchemas,
  release: Release,
): ExpressionWarning[] {
  const compilers = compilersFor(spec, schemas, release)
  const warnings: ExpressionWarning[] = []
  const check = (field: string, text: string) => {
    const found = compilers.flatMap(({ kind, compiler, options }) => {
      const problem = compiler.typeProblem(text, options)
      return problem === undefined ? [] : [`${textOf(kind)}: ${problem}\n`]
    })
    if (found.length > 0)
      warnings.push({ fieldRef: `spec.validations${field}`, warning: found.join('\n') })
  }
  for (const [i, { expression, messageExpression }] of (
    (spec.validations ?? []) as Loose[]
  ).entries()) {
    check(`[${i}].expression`, expression ?? '')
    if (messageExpression) check(`[${i}].messageExpression`, messageExpression)
  }
  return warnings
}

const textOf = ({ group, version, kind }: KindName): string => `${group}/${version}, Kind=${kind}`

/** One compiler for each kind, with the types of its objects. */
function compilersFor(spec: Loose, schemas: ServedSchemas, release: Release) {
  const known = (kind: KindName): KnownType | undefined => {
    const schema = schemas.schemaOf(kind)
    const name = `${kind.kind}${schemas.randomNumber()}`
    const type = schema && schemaType(schema, true, release, name)
    return type && knownType(type, release)
  }
  const paramName = paramKindOf(spec)
  const params = paramName && known(paramName)
  const hasParams =
    params !== undefined || (paramName !== undefined && release.has(declaresUnknownParams))
  const options = { params: hasParams, authorizer: true }
  return kindsOf(spec, schemas).flatMap((kind) => {
    const object = known(kind)
    if (object === undefined) return []
    const variables = new Map(variableTypes({ ...options, composes: true }, release))
    // The variable for checks of the requested resource is not declared here.
    variables.delete('authorizer.requestResource')
    variables.set('object', object.type).set('oldObject', object.type)
    if (hasParams) variables.set('params', params?.type ?? dynType)
    const types: TypeProvider = {
      findType: (name) => object.fields.findType(name) ?? params?.fields.findType(name),
      findField: (name, field) =>
        object.fields.findField(name, field) ?? params?.fields.findField(name, field),
    }
    const compiler = new ExpressionCompiler(release, true, { variables, types })
    for (const { name, expression } of (spec.variables ?? []) as Loose[])
      compiler.addVariable(name, expression, options, 'stored')
    return [{ kind, compiler, options }]
  })
}

const knownType = (type: SchemaType, release: Release): KnownType => ({
  type: type.type,
  fields: typesOf(type, release),
})

function paramKindOf({ paramKind }: Loose): KindName | undefined {
  if (!paramKind) return undefined
  const { apiVersion = '', kind = '' } = paramKind as Record<string, string>
  return { group: groupOf(apiVersion), version: versionOf(apiVersion), kind }
}

/** The kinds that the rules name explicitly, without wildcards and subresources, sorted by name. */
function kindsOf({ matchConstraints }: Loose, schemas: ServedSchemas): KindName[] {
  const found = new Map<string, KindName>()
  for (const rule of (matchConstraints?.resourceRules ?? []) as Loose[])
    if (addKinds(found, rule, schemas)) break
  return [...found.values()].sort(
    (a, b) =>
      byCodePoint(a.group, b.group) ||
      byCodePoint(a.version, b.version) ||
      byCodePoint(a.kind, b.kind),
  )
}

/**
 * Adds the kinds of a rule. Returns true when the limit of checked kinds is reached; later rules
 * are ignored.
 */
function addKinds(found: Map<string, KindName>, rule: Loose, { kindsFor }: ServedSchemas): boolean {
  const groups = namesIn(rule.apiGroups)
  const versions = namesIn(rule.apiVersions)
  const resources = ((rule.resources ?? []) as string[]).filter((one) => !/[*/]/.test(one))
  let count = 0
  for (const group of groups)
    for (const version of versions)
      for (const resource of resources.sort(byCodePoint))
        for (const kind of kindsFor(group, version, resource)) {
          found.set(textOf(kind), kind)
          if (++count === kindsMax) return true
        }
  return false
}

/** The sorted names. Empty if one of them is a wildcard. */
const namesIn = (names: readonly string[] | undefined): string[] =>
  names === undefined || names.some((name) => name.includes('*'))
    ? []
    : [...names].sort(byCodePoint)
