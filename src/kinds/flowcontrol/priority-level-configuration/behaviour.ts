/** PriorityLevelConfiguration: concurrency shares, queuing and borrowing. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { exemptHasShares, sharesField } from '#api/priority-shares.ts'
import { change, type Release, releaseOf } from '#api/releases/change.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { internalJson } from '#kinds/all-kinds/internal-form.ts'
import { keepsZeroShares, zeroSharesKey } from './kept-zero.ts'
import { levelSpecForm } from './level-form.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { flowBehaviour } from '#kinds/flowcontrol/flow-behaviour.ts'
import { checkFlowConditions } from '#kinds/flowcontrol/flow-conditions.ts'
import { mandatoryPriorityLevels } from '#kinds/flowcontrol/mandatory.ts'

const path = FieldPath.of('spec')
const queuesMax = 10_000_000
/** Bits of a hash there are to deal queues with. */
const hashBitsMax = 60

const typeIsNamed = change('the error of the type of a priority level quotes `name`', { since: 34 })
const missingTypesAreRequired = change('a missing type of a priority level is a missing value', {
  since: 36,
})
const marksAreForbidden = change('priority levels cannot have the annotation for zero shares', {
  since: 29,
})

/** The request, as far as it decides on the rules. */
type Asked = Pick<Context, 'feature' | 'requestApiVersion'> & { readonly release: Release }

function check(level: KubeObject, context: Context): FieldError[] {
  const release = releaseOf(context.release)
  const name = level.metadata.name ?? ''
  const spec = level.spec ?? {}
  return [
    ...checkMark(level, release),
    ...checkSpec(spec, name, { ...context, release }),
    ...checkFixed(spec, name, release),
    ...checkFlowConditions(level, context),
  ]
}

function checkMark(level: KubeObject, release: Release): FieldError[] {
  if (!release.has(marksAreForbidden) || !keepsZeroShares(level)) return []
  return [forbidden('metadata.annotations', `annotation '${zeroSharesKey}' is forbidden`)]
}

function checkFixed(spec: Loose, name: string, release: Release): FieldError[] {
  const fixed = mandatoryPriorityLevels(release).get(name)
  const mayChangeShares = name === 'exempt' && release.has(exemptHasShares)
  const { exempt: _, ...others } = spec
  if (fixed === undefined || sameJson(mayChangeShares ? others : spec, fixed)) return []
  const shown = goStruct('flowcontrol.PriorityLevelConfigurationSpec', [
    ['Type', goQuote(spec.type ?? '')],
    ['Limited', goPointer('flowcontrol.LimitedPriorityLevelConfiguration', spec.limited)],
    ...(release.has(exemptHasShares)
      ? ([
          ['Exempt', goPointer('flowcontrol.ExemptPriorityLevelConfiguration', spec.exempt)],
        ] as const)
      : []),
  ])
  const but = mayChangeShares ? " except the 'spec.exempt' field" : ''
  const json = internalJson(levelSpecForm, spec)
  return [invalid(path, asGo(shown, json), `spec of '${name}'${but} must equal the fixed value`)]
}

function checkSpec(spec: Loose, name: string, asked: Asked): FieldError[] {
  const { release } = asked
  const type: string = spec.type ?? ''
  const errors: FieldError[] = []
  if ((name === 'exempt') !== (type === 'Exempt')) {
    const detail = release.has(typeIsNamed)
      ? "must be 'Exempt' if and only if `name` is 'exempt'"
      : "type must be 'Exempt' if and only if name is 'exempt'"
    errors.push(invalid(path.child('type'), type, detail))
  }
  const at = path.child('limited')
  const exemptPath = path.child('exempt')
  if (type === 'Exempt') {
    if (spec.limited) errors.push(forbidden(at, 'must be nil if the type is not Limited'))
    if (spec.exempt) errors.push(...checkExempt(spec.exempt, exemptPath))
  } else if (type === 'Limited') {
    if (spec.exempt) errors.push(forbidden(exemptPath, 'must be nil if the type is Limited'))
    if (spec.limited) errors.push(...checkLimited(spec.limited, at, asked))
    else errors.push(required(at, 'must not be empty when type is Limited'))
  } else errors.push(...checkType(type, path.child('type'), ['Exempt', 'Limited'], release))
  return errors
}

function checkType(
  type: string,
  at: FieldPath,
  known: readonly string[],
  release: Release,
): FieldError[] {
  if (type === '' && release.has(missingTypesAreRequired)) return [required(at)]
  return [notSupported(at, type, known)]
}

const notNegative = 'must be a non-negative integer'

function checkExempt(exempt: Loose, at: FieldPath): FieldError[] {
  const { nominalConcurrencyShares: shares } = exempt
  const errors = checkLendable(exempt, at)
  if (!(shares < 0)) return errors
  return [invalid(at.child('nominalConcurrencyShares'), shares, notNegative), ...errors]
}

const checkLendable = ({ lendablePercent: percent }: Loose, at: FieldPath): FieldError[] =>
  percent < 0 || percent > 100
    ? [invalid(at.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive')]
    : []

/** Errors name the field as the version of the request does. */
const isAssured = (apiVersion = ''): boolean => /\/v1(?:alpha1|beta1|beta2)$/.test(apiVersion)

function checkShares(limited: Loose, at: FieldPath, asked: Asked): FieldError[] {
  const field = sharesField(asked.release)
  const shares: number = limited[field] ?? 0
  const mayBeZero = asked.feature('ZeroLimitedNominalConcurrencyShares')
  if (mayBeZero ? shares >= 0 : shares > 0) return []
  const shown = isAssured(asked.requestApiVersion) ? 'assuredConcurrencyShares' : field
  return [invalid(at.child(shown), shares, mayBeZero ? notNegative : 'must be positive')]
}

function checkLimited(limited: Loose, at: FieldPath, asked: Asked): FieldError[] {
  const errors = [
    ...checkShares(limited, at, asked),
    ...checkResponse(limited.limitResponse ?? {}, at.child('limitResponse'), asked.release),
    ...checkLendable(limited, at),
  ]
  const { borrowingLimitPercent: borrowed } = limited
  if (!(borrowed < 0)) return errors
  const detail = 'if specified, must be a non-negative integer'
  return [...errors, invalid(at.child('borrowingLimitPercent'), borrowed, detail)]
}

function checkResponse(
  { type = '', queuing }: Loose,
  at: FieldPath,
  release: Release,
): FieldError[] {
  const queuingPath = at.child('queuing')
  if (type === 'Reject') {
    const detail = 'must be nil if limited.limitResponse.type is not Limited'
    return queuing ? [forbidden(queuingPath, detail)] : []
  }
  if (type !== 'Queue') return checkType(type, at.child('type'), ['Queue', 'Reject'], release)
  const detail = 'must not be empty if limited.limitResponse.type is Limited'
  return queuing ? checkQueuing(queuing, queuingPath) : [required(queuingPath, detail)]
}

function checkQueuing(queuing: Loose, at: FieldPath): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing
  const errors: FieldError[] = []
  const wrong = (field: string, value: number, detail: string) =>
    errors.push(invalid(at.child(field), value, detail))
  if (queueLengthLimit <= 0) wrong('queueLengthLimit', queueLengthLimit, 'must be positive')
  if (queues <= 0) wrong('queues', queues, 'must be positive')
  else if (queues > queuesMax) wrong('queues', queues, `must not be greater than ${queuesMax}`)
  if (handSize <= 0) wrong('handSize', handSize, 'must be positive')
  else if (handSize > queues) {
    wrong('handSize', handSize, `should not be greater than queues (${queues})`)
  } else if (Math.ceil(Math.log2(queues) * handSize) > hashBitsMax) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBitsMax}`
    wrong('handSize', handSize, detail)
  }
  return errors
}

export const priorityLevelConfigurationBehaviour: Behaviour = flowBehaviour(check)
