/** StorageClass: the provisioner of volumes and its parameters, which are immutable. */
import { change, releaseOf } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  problemsMax,
  required,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain, qualifiedName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { checkOneOfIfSet, each, isAsBefore, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { deprecatedTopologyLabels } from '#kinds/all-kinds/deprecated-node-labels.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { checkParameters } from '#kinds/storage/class-parameters.ts'
import { checkTopologySelectorTerm } from './topology-selector.ts'

const showsLowerCase = change('errors show the provisioner of a StorageClass in lower case', {
  since: 22,
})

function checkProvisioner(provisioner: string, path: FieldPath, release: number): FieldError[] {
  const lowered = provisioner.toLowerCase()
  return each(
    path,
    releaseOf(release).has(showsLowerCase) ? lowered : provisioner,
    qualifiedName(lowered),
  )
}

function check(object: KubeObject, release: number): FieldError[] {
  const provisioner: string = object.provisioner ?? ''
  const at = FieldPath.of('provisioner')
  const mode = object.volumeBindingMode
  return [
    ...(provisioner === '' ? [required(at)] : checkProvisioner(provisioner, at, release)),
    ...checkParameters(object.parameters ?? {}, FieldPath.of('parameters')),
    ...checkOneOfIfSet(
      object.reclaimPolicy || undefined,
      ['Delete', 'Retain'],
      FieldPath.of('reclaimPolicy'),
    ),
    ...(mode === undefined
      ? [required('volumeBindingMode')]
      : checkOneOfIfSet(
          mode,
          ['Immediate', 'WaitForFirstConsumer'],
          FieldPath.of('volumeBindingMode'),
        )),
    ...checkTopologies(object.allowedTopologies ?? []),
  ]
}

/**
 * Rejects a term that equals an earlier one, in any order. kube-apiserver starts its comparison
 * with one empty term for each term, so it reports an empty term that many times.
 */
function checkTopologies(terms: Loose[]): FieldError[] {
  const path = FieldPath.of('allowedTopologies')
  const nothing = JSON.stringify([])
  const seen = new Map([[nothing, terms.length]])
  let told = 0
  return terms.flatMap((term, i) => {
    const errors = checkTopologySelectorTerm(term, path.index(i))
    const meaning = new Map<string, string>()
    for (const { key = '', values } of (term.matchLabelExpressions ?? []) as Loose[]) {
      meaning.set(key, JSON.stringify([...new Set<string>(values)].sort()))
    }
    const identity = JSON.stringify([...meaning].sort())
    const at = path.index(i).child('matchLabelExpressions')
    const before = seen.get(identity) ?? 0
    const times = Math.min(before, problemsMax - told)
    told += times
    seen.set(identity, before + 1)
    return [...errors, ...Array<FieldError>(times).fill(duplicate(at, ''))]
  })
}

const fieldsAreImmutable = change('errors of a changed StorageClass say: field is immutable', {
  since: 36,
})
const warnsOfLabels = change('warnings about deprecated labels of nodes in a StorageClass', {
  since: 25,
})

function checkChanges(next: KubeObject, old: KubeObject, release: number): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy']) {
    if (releaseOf(release).has(fieldsAreImmutable)) {
      // An empty map equals an absent one.
      if (!sameJson(next[field], old[field])) errors.push(changed(next, field))
    } else if (!isAsBefore(next, old, field))
      errors.push(forbidden(field, `updates to ${field} are forbidden.`))
  }
  if (next.volumeBindingMode !== old.volumeBindingMode) {
    errors.push(changed(next, 'volumeBindingMode'))
  }
  return errors
}

const changed = (next: KubeObject, field: string): FieldError => ({
  ...invalid(field, next[field] ?? (field === 'provisioner' ? '' : undefined), immutableMessage),
  origin: 'immutable',
})

function labelWarnings({ allowedTopologies = [] }: Loose, { release }: Context): string[] {
  if (!releaseOf(release).has(warnsOfLabels)) return []
  const path = FieldPath.of('allowedTopologies')
  return (allowedTopologies as Loose[]).flatMap(({ matchLabelExpressions = [] }, i) =>
    (matchLabelExpressions as Loose[]).flatMap(({ key = '' }, j) => {
      const message = deprecatedTopologyLabels(release).get(key)
      const at = path.index(i).child('matchLabelExpressions').index(j).child('key')
      return message === undefined ? [] : [`${at}: ${message}`]
    }),
  )
}

export const storageClassBehaviour: Behaviour = {
  validateCreate: (object, { release }) => check(object, release),
  warningsOnCreate: labelWarnings,
  warningsOnUpdate: (next, _old, context) => labelWarnings(next, context),
  validateUpdate: (next, old, { release }) => [
    ...checkMetadata(next, false, nameIsDnsSubdomain),
    ...check(next, release),
    ...checkMetadataUpdate(next, old),
    ...checkChanges(next, old, release),
  ],
}
