/** FlowSchema: which requests get which priority level. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { internalJson } from '#kinds/all-kinds/internal-form.ts'
import { flowSchemaSpecForm } from './schema-form.ts'
import { each, sameJson } from '#kinds/all-kinds/checks.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { flowBehaviour } from '#kinds/flowcontrol/flow-behaviour.ts'
import { checkFlowConditions } from '#kinds/flowcontrol/flow-conditions.ts'
import { checkNonResourceRule, checkResourceRule, checkSubject } from './flow-rules.ts'
import { mandatoryFlowSchemas } from '#kinds/flowcontrol/mandatory.ts'

const path = FieldPath.of('spec')
const precedenceMax = 10000
const methods = ['ByNamespace', 'ByUser']

function check(schema: KubeObject, context: Context): FieldError[] {
  const name = schema.metadata.name ?? ''
  const spec = schema.spec ?? {}
  const errors = checkSpec(spec, name)
  const fixed = mandatoryFlowSchemas.get(name)
  if (fixed !== undefined && !sameJson(spec, fixed)) {
    errors.push(
      invalid(
        path,
        asGo(goSpec(spec), internalJson(flowSchemaSpecForm, spec)),
        `spec of '${name}' must equal the fixed value`,
      ),
    )
  }
  return [...errors, ...checkFlowConditions(schema, context)]
}

const goSpec = (spec: Loose): GoText =>
  goStruct('flowcontrol.FlowSchemaSpec', [
    [
      'PriorityLevelConfiguration',
      goStruct('flowcontrol.PriorityLevelConfigurationReference', [
        ['Name', goQuote(spec.priorityLevelConfiguration?.name ?? '')],
      ]),
    ],
    ['MatchingPrecedence', String(spec.matchingPrecedence ?? 0)],
    [
      'DistinguisherMethod',
      goPointer('flowcontrol.FlowDistinguisherMethod', spec.distinguisherMethod),
    ],
    ['Rules', `[]flowcontrol.PolicyRulesWithSubjects${spec.rules?.length ? '{...}' : '(nil)'}`],
  ])

function checkSpec(spec: Loose, name: string): FieldError[] {
  const errors: FieldError[] = []
  const precedence: number = spec.matchingPrecedence ?? 0
  const wrong = (detail: string) =>
    errors.push(invalid(path.child('matchingPrecedence'), precedence, detail))
  if (precedence <= 0) wrong('must be a positive value')
  if (precedence > precedenceMax) wrong(`must not be greater than ${precedenceMax}`)
  if (precedence === 1 && name !== 'exempt') {
    wrong("only the schema named 'exempt' may have matchingPrecedence 1")
  }
  const method = spec.distinguisherMethod
  if (method && !methods.includes(method.type)) {
    const shown = goStruct('flowcontrol.FlowDistinguisherMethod', [
      ['Type', goQuote(method.type ?? '')],
    ])
    errors.push(notSupported(path.child('distinguisherMethod', 'type'), asGo(shown), methods))
  }
  const level: string = spec.priorityLevelConfiguration?.name ?? ''
  const at = path.child('priorityLevelConfiguration', 'name')
  if (level === '') errors.push(required(at, 'must reference a priority level'))
  else errors.push(...each(at, level, nameIsDnsSubdomain(level, false)))
  const rules: Loose[] = spec.rules ?? []
  return [...errors, ...rules.flatMap((rule, i) => checkRule(rule, path.child('rules').index(i)))]
}

function checkRule(rule: Loose, at: FieldPath): FieldError[] {
  const subjects: Loose[] = rule.subjects ?? []
  const resources: Loose[] = rule.resourceRules ?? []
  const urls: Loose[] = rule.nonResourceRules ?? []
  const errors =
    subjects.length === 0
      ? [required(at.child('subjects'), 'subjects must contain at least one value')]
      : subjects.flatMap((one, i) => checkSubject(one, at.child('subjects').index(i)))
  if (resources.length === 0 && urls.length === 0) {
    const detail = 'at least one of resourceRules and nonResourceRules has to be non-empty'
    errors.push(required(at, detail))
  }
  return [
    ...errors,
    ...resources.flatMap((one, i) => checkResourceRule(one, at.child('resourceRules').index(i))),
    ...urls.flatMap((one, i) => checkNonResourceRule(one, at.child('nonResourceRules').index(i))),
  ]
}

export const flowSchemaBehaviour: Behaviour = flowBehaviour(check)
