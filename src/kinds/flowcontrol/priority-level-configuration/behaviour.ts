/** PriorityLevelConfiguration: how many requests of a level are served at once, and what becomes of the others. */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { exemptHasShares, sharesField } from '#api/priority-shares.ts'
import { type Release, releaseOf } from '#api/releases/change.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { flowBehaviour } from '#kinds/flowcontrol/flow-behaviour.ts'
import { checkFlowConditions } from '#kinds/flowcontrol/flow-conditions.ts'
import { mandatoryPriorityLevels } from '#kinds/flowcontrol/mandatory.ts'

const path = FieldPath.of('spec')
const queuesMax = 10_000_000
/** Bits of a hash there are to deal queues with. */
const hashBitsMax = 60

function check(level: KubeObject, context: Context): FieldError[] {
  const release = releaseOf(context.release)
  const name = level.metadata.name ?? ''
  const spec = level.spec ?? {}
  const errors = checkSpec(spec, name, release)
  const fixed = mandatoryPriorityLevels(release).get(name)
  const mayChangeShares = name === 'exempt' && release.has(exemptHasShares)
  const { exempt, ...others } = spec
  if (fixed !== undefined && !sameJson(mayChangeShares ? others : spec, fixed)) {
    const shown = goStruct('flowcontrol.PriorityLevelConfigurationSpec', [
      ['Type', goQuote(spec.type ?? '')],
      ['Limited', goPointer('flowcontrol.LimitedPriorityLevelConfiguration', spec.limited)],
    ])
    const but = mayChangeShares ? " except the 'spec.exempt' field" : ''
    errors.push(invalid(path, asGo(shown), `spec of '${name}'${but} must equal the fixed value`))
  }
  return [...errors, ...checkFlowConditions(level)]
}

function checkSpec(spec: Loose, name: string, release: Release): FieldError[] {
  const type: string = spec.type ?? ''
  const errors: FieldError[] = []
  if ((name === 'exempt') !== (type === 'Exempt')) {
    const detail = "type must be 'Exempt' if and only if name is 'exempt'"
    errors.push(invalid(path.child('type'), type, detail))
  }
  const at = path.child('limited')
  if (type === 'Exempt') {
    if (spec.limited) errors.push(forbidden(at, 'must be nil if the type is not Limited'))
  } else if (type === 'Limited') {
    if (spec.limited) errors.push(...checkLimited(spec.limited, at, release))
    else errors.push(required(at, 'must not be empty when type is Limited'))
  } else {
    errors.push(notSupported(path.child('type'), type, ['Exempt', 'Limited']))
  }
  return errors
}

function checkLimited(limited: Loose, at: FieldPath, release: Release): FieldError[] {
  const field = sharesField(release)
  const shares: number = limited[field] ?? 0
  const errors: FieldError[] = []
  if (shares <= 0) {
    errors.push(invalid(at.child(field), shares, 'must be positive'))
  }
  const { type = '', queuing } = limited.limitResponse ?? {}
  const response = at.child('limitResponse')
  const queuingPath = response.child('queuing')
  if (type === 'Reject') {
    const detail = 'must be nil if limited.limitResponse.type is not Limited'
    if (queuing) errors.push(forbidden(queuingPath, detail))
  } else if (type === 'Queue') {
    const detail = 'must not be empty if limited.limitResponse.type is Limited'
    errors.push(...(queuing ? checkQueuing(queuing, queuingPath) : [required(queuingPath, detail)]))
  } else {
    errors.push(notSupported(response.child('type'), type, ['Queue', 'Reject']))
  }
  return errors
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
