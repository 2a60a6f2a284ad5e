/** ValidatingAdmissionPolicy: expressions that must be true of the objects in matching requests. */
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { qualifiedName, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkPlainMetadata } from '#kinds/all-kinds/metadata.ts'
import {
  keepObjectMetaForStatus,
  keepSpec,
  keepStatus,
  raiseGeneration,
} from '#kinds/all-kinds/strategy.ts'
import {
  ExpressionCompiler,
  results,
} from '#kinds/admissionregistration/expressions/expression-compiler.ts'
import {
  checkPolicyHead,
  checkVariables,
  PolicyWrite,
  saysMustBe,
} from '#kinds/admissionregistration/policy-spec.ts'
import { withStaticNames } from '#kinds/admissionregistration/static-names.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkStatus } from './status.ts'

const specPath = FieldPath.of('spec')
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
/** More would make audit events too large. */
const annotationsMax = 20
const valueExpressionBytesMax = 5 * 1024

const specOf = (object: KubeObject): Loose => object.spec ?? {}

function check(object: KubeObject, { release }: Context, old?: KubeObject): FieldError[] {
  const write = new PolicyWrite(specOf(object), old && specOf(old), releaseOf(release))
  const { spec } = write
  const errors = checkPolicyHead(write, specPath)
  const compiler = new ExpressionCompiler(write.release, (spec.variables ?? []).length > 0)
  errors.push(...checkVariables(write, compiler, specPath.child('variables')))
  const validations: Loose[] = spec.validations ?? []
  const annotations: Loose[] = spec.auditAnnotations ?? []
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    const missing = ['validations', 'auditAnnotations']
    return [...errors, ...missing.map((field) => required(specPath.child(field), detail))]
  }
  const at = specPath.child('validations')
  return [
    ...errors,
    ...validations.flatMap((one, i) => checkValidation(write, compiler, one, at.index(i))),
    ...checkAnnotations(write, compiler, annotations, object.metadata.name ?? ''),
  ]
}

function checkValidation(
  write: PolicyWrite,
  compiler: ExpressionCompiler,
  { expression = '', message = '', messageExpression = '', reason }: Loose,
  path: FieldPath,
): FieldError[] {
  const { hasParams: params, stored, release } = write
  const at = path.child('expression')
  const errors: FieldError[] = []
  if (expression.trim() === '') errors.push(required(at, 'expression is not specified'))
  else {
    const options = { params, authorizer: true }
    const kind = stored.validation(expression)
    const { problem } = compiler.compile(expression, results.bool, options, kind)
    if (problem !== undefined) errors.push(invalid(at, expression, problem))
  }
  errors.push(...checkMessageExpression(write, compiler, messageExpression, path))
  const subject = saysMustBe(release) ? '' : 'message '
  if (message !== '' && message.trim() === '')
    errors.push(invalid(path.child('message'), message, `${subject}must be non-empty if specified`))
  else if (/[\n\r]/.test(message.trim()))
    errors.push(invalid(path.child('message'), message, `${subject}must not contain line breaks`))
  if (reason !== undefined && reason !== null && !reasons.includes(reason))
    errors.push(notSupported(path.child('reason'), reason, reasons))
  return errors
}

function checkMessageExpression(
  { hasParams: params, stored }: PolicyWrite,
  compiler: ExpressionCompiler,
  text: string,
  path: FieldPath,
): FieldError[] {
  if (text === '') return []
  const at = path.child('messageExpression')
  if (text.trim() === '') return [invalid(at, text, 'must be non-empty if specified')]
  const options = { params, authorizer: false }
  const { problem } = compiler.compile(text, results.text, options, stored.message(text))
  return problem === undefined ? [] : [invalid(at, text, problem)]
}

function checkAnnotations(
  { hasParams: params, stored }: PolicyWrite,
  compiler: ExpressionCompiler,
  annotations: readonly Loose[],
  name: string,
): FieldError[] {
  const path = specPath.child('auditAnnotations')
  const errors: FieldError[] = []
  if (annotations.length > annotationsMax) {
    const detail = `must not have more than ${annotationsMax} auditAnnotations`
    errors.push(invalid(path, annotations, detail))
  }
  const keys = new Set<string>()
  for (const [i, { key = '', valueExpression: text = '' }] of annotations.entries()) {
    const at = path.index(i).child('key')
    if (name === '') errors.push(invalid(at, key, 'requires metadata.name be non-empty'))
    else errors.push(...each(at, `${name}/${key}`, qualifiedName(`${name}/${key}`)))
    const place = path.index(i).child('valueExpression')
    const trimmed = text.trim()
    if (trimmed === '') errors.push(required(place, 'valueExpression is not specified'))
    else if (Buffer.byteLength(trimmed) > valueExpressionBytesMax)
      errors.push(required(place, `must not exceed ${valueExpressionBytesMax} bytes in length`))
    else {
      const options = { params, authorizer: true }
      const kind = stored.annotation(text)
      const { problem } = compiler.compile(trimmed, results.textOrNull, options, kind)
      if (problem !== undefined) errors.push(invalid(place, text, problem))
    }
    if (keys.has(key)) errors.push(duplicate(at, key))
    keys.add(key)
  }
  return errors
}

export const validatingAdmissionPolicyBehaviour: Behaviour = withStaticNames({
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
    object.metadata.generation = 1
  },
  prepareForUpdate(next, old) {
    keepStatus(next, old)
    raiseGeneration(next, old, ['spec'])
  },
  validateCreate: (object, context) => check(object, context),
  validateUpdate: (next, old, context) => [
    ...checkPlainMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, context, old),
  ],
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: (next, _old, { release }) => checkStatus(next, releaseOf(release)),
    },
  },
})
