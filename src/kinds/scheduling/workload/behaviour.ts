/**
 * Workload: templates of pod groups, which may form a tree. Tags on the fields declare the rules of
 * one template; the rules here are those of the tree.
 */
import { duplicate, type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { dropDisabledOfTemplates } from '#kinds/scheduling/disabled-fields.ts'

const specPath = FieldPath.of('spec')
/** Levels of composite templates below the spec. */
const depthMax = 4
const compositeType = 'io.k8s.api.scheduling.v1beta1.CompositePodGroupTemplate'

const groupsOf = (holder: Loose): Loose[] => holder.podGroupTemplates ?? []
const compositesOf = (holder: Loose): Loose[] => holder.compositePodGroupTemplates ?? []
const compositePath = (path: FieldPath, i: number): FieldPath =>
  path.child('compositePodGroupTemplates').index(i)

/**
 * Names that another list of the tree has. Declared rules find repetitions in one list, so names
 * count only after their list. `known` collects the names of the tree.
 */
function repeatedNames(list: Loose[], at: (i: number) => FieldPath, known: Set<string>) {
  const names = list.map(({ name = '' }) => name as string)
  const errors = names.flatMap((name, i) =>
    known.has(name) ? [duplicate(at(i).child('name'), name)] : [],
  )
  for (const name of names) known.add(name)
  return errors
}

function checkNames(holder: Loose, path: FieldPath, known: Set<string>): FieldError[] {
  const composites = compositesOf(holder)
  const errors = repeatedNames(composites, (i) => compositePath(path, i), known)
  return composites.reduce((all: FieldError[], template, i) => {
    const at = compositePath(path, i)
    const groupAt = (j: number) => at.child('podGroupTemplates').index(j)
    all.push(...repeatedNames(groupsOf(template), groupAt, known))
    all.push(...checkNames(template, at, known))
    return all
  }, errors)
}

const depthOf = (template: Loose): number =>
  compositesOf(template).reduce((most, child) => Math.max(most, depthOf(child) + 1), 1)

function checkDepth(spec: Loose): FieldError[] {
  const detail = `maximum template hierarchy depth is ${depthMax}`
  return compositesOf(spec).flatMap((template, i) => {
    if (depthOf(template) < depthMax) return []
    const shown = internalValue(compositeType, template.compositePodGroupTemplates)
    return [invalid(compositePath(specPath, i), shown, detail)]
  })
}

/** Priority and priority class of one template, as text that can be compared. */
const priorityOf = ({ priorityClassName = '', priority }: Loose): string =>
  `${priorityClassName} ${priority ?? ''}`

const prioritiesIn = (template: Loose): string[] => [
  priorityOf(template),
  ...compositesOf(template).flatMap(prioritiesIn),
  ...groupsOf(template).map(priorityOf),
]

function checkPriority(spec: Loose): FieldError[] {
  const groups = groupsOf(spec).map(priorityOf)
  const first = groups[0]
  if (groups.some((one) => one !== first))
    return [invalid(specPath, null, 'detected multiple priority configurations')]
  const all = [...groups, ...compositesOf(spec).flatMap(prioritiesIn)]
  if (all.every((one) => one === all[0])) return []
  const detail =
    'all priority and priorityClassName values must be identical, detected multiple values'
  return [invalid(specPath, null, detail)]
}

function checkChildren(template: Loose, path: FieldPath): FieldError[] {
  const composites = compositesOf(template)
  const isEmpty = composites.length === 0 && groupsOf(template).length === 0
  const detail = 'must have at least one child PodGroupTemplate or CompositePodGroupTemplate'
  return [
    ...(isEmpty ? [invalid(path, template.name ?? '', detail)] : []),
    ...composites.flatMap((child, i) => checkChildren(child, compositePath(path, i))),
  ]
}

function check({ spec = {} }: KubeObject): FieldError[] {
  const names = new Set(groupsOf(spec).map(({ name = '' }) => name as string))
  return [
    ...checkNames(spec, specPath, names),
    ...checkDepth(spec),
    ...checkPriority(spec),
    ...compositesOf(spec).flatMap((child, i) => checkChildren(child, compositePath(specPath, i))),
  ]
}

export const workloadBehaviour: Behaviour = {
  unconditionalUpdate: false,
  prepareForCreate(object, context) {
    dropDisabledOfTemplates(object.spec ?? {}, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    dropDisabledOfTemplates(next.spec ?? {}, old.spec, context)
  },
  validateCreate: check,
  validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...check(next)],
}
