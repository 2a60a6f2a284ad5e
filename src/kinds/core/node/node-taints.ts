/** Taints of nodes, in their field and in the annotation that came before it. */
import { type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goQuote, goStruct } from '#api/go-syntax.ts'
import { validateLabelName } from '#api/label-rules.ts'
import { labelValue } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { loadLater } from '#base/load-later.ts'
import { goTime } from '#kinds/all-kinds/go-time.ts'
import { ownValue } from '#kinds/own-key.ts'

const loadTyped = loadLater<typeof import('#kinds/all-kinds/typed-annotation.ts')>(
  import.meta.url,
  '#kinds/all-kinds/typed-annotation',
)

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function checkTaints(taints: Loose[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint, i) => {
    const errors = checkTaint(taint, path.index(i))
    const identity = JSON.stringify([taint.effect ?? '', taint.key ?? ''])
    if (seen.has(identity)) errors.push(duplicateTaint(taint, path.index(i)))
    seen.add(identity)
    return errors
  })
}

function checkTaint({ key = '', value = '', effect = '' }: Loose, path: FieldPath): FieldError[] {
  const errors = validateLabelName(key, path.child('key'))
  const problems = labelValue(value)
  if (problems.length > 0) errors.push(invalid(path.child('value'), value, problems.join(';')))
  if (effect === '') errors.push(required(path.child('effect')))
  else if (!effects.includes(effect)) {
    errors.push(notSupported(path.child('effect'), effect, effects))
  }
  return errors
}

function duplicateTaint(taint: Loose, path: FieldPath): FieldError {
  const shown = goStruct('core.Taint', [
    ['Key', goQuote(taint.key ?? '')],
    ['Value', goQuote(taint.value ?? '')],
    ['Effect', goQuote(taint.effect ?? '')],
    // Times print themselves, and nothing as nothing.
    ['TimeAdded', taint.timeAdded ? goTime(taint, 'timeAdded') : asGo('<nil>', 'null')],
  ])
  const detail = 'taints must be unique by key and effect pair'
  return {
    type: 'FieldValueDuplicate',
    field: path.toString(),
    message: `Duplicate value: ${shown}: ${detail}`,
    shown: { head: 'Duplicate value', value: shown, detail },
  }
}

const annotationsPath = FieldPath.of('metadata', 'annotations')
const taintsKey = 'scheduler.alpha.kubernetes.io/taints'
const avoidPodsKey = 'scheduler.alpha.kubernetes.io/preferAvoidPods'

export function checkNodeAnnotations(
  annotations: Record<string, string> | undefined,
): FieldError[] {
  const taints = ownValue(annotations, taintsKey)
  const avoidPods = ownValue(annotations, avoidPodsKey)
  return [
    ...(taints ? checkTaintsAnnotation(taints) : []),
    ...(avoidPods ? checkAvoidPodsAnnotation(avoidPods) : []),
  ]
}

function checkTaintsAnnotation(text: string): FieldError[] {
  const read = loadTyped().readTaints(text)
  if ('problem' in read) return [invalid(annotationsPath, taintsKey, read.problem)]
  return checkTaints([...read.items], annotationsPath.child(taintsKey))
}

function checkAvoidPodsAnnotation(text: string): FieldError[] {
  const read = loadTyped().readAvoidedPods(text)
  if ('problem' in read) {
    return [invalid(annotationsPath.child('AvoidPods'), avoidPodsKey, read.problem)]
  }
  return read.items.flatMap(({ podSignature }, i) => {
    const path = annotationsPath.child(avoidPodsKey).index(i).child('PodSignature')
    const controller: Loose | undefined = podSignature?.podController
    if (!controller) return [required(path)]
    if (controller.controller === true) return []
    const at = path.child('PodController').child('Controller')
    return [invalid(at, false, 'must point to a controller')]
  })
}
