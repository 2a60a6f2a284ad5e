/** Which users, groups, labels and runtimes a security policy lets pods have. */
import { duplicate, type FieldError, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { asGo, goList, goQuote, goStrings, goStruct, type GoText } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each, listAsWritten, repeats } from '#kinds/all-kinds/checks.ts'

const userRules = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny']
const groupRules = ['MayRunAs', 'MustRunAs', 'RunAsAny']

function checkRule(options: Loose, rules: string[], path: FieldPath): FieldError[] {
  const rule: string = options.rule ?? ''
  const wrong = rules.includes(rule) ? [] : [notSupported(path.child('rule'), rule, rules)]
  return [...wrong, ...checkRanges(options.ranges ?? [], path.child('ranges'))]
}

function checkRanges(ranges: Loose[], path: FieldPath): FieldError[] {
  return ranges.flatMap(({ min = 0, max = 0 }, i) => {
    const errors: FieldError[] = []
    const at = path.index(i)
    if (min < 0) errors.push(invalid(at.child('min'), min, 'min cannot be negative'))
    if (max < 0) errors.push(invalid(at.child('max'), max, 'max cannot be negative'))
    if (min > max) errors.push(invalid(at.child('min'), min, 'min cannot be greater than max'))
    return errors
  })
}

export const checkRunAsUser = (options: Loose, path: FieldPath): FieldError[] =>
  checkRule(options, userRules, path)
export const checkSupplementalGroups = (options: Loose, path: FieldPath): FieldError[] =>
  checkRule(options, groupRules, path)
export const checkFsGroup = (options: Loose, path: FieldPath): FieldError[] =>
  checkRule(options, groupRules, path)
export const checkSeLinux = (options: Loose, path: FieldPath): FieldError[] =>
  checkRule({ rule: options.rule }, ['MustRunAs', 'RunAsAny'], path)

const goRanges = (ranges: Loose[] | undefined): GoText =>
  goList(
    'policy.IDRange',
    ranges?.map(({ min = 0, max = 0 }) =>
      goStruct('policy.IDRange', [
        ['Min', String(min)],
        ['Max', String(max)],
      ]),
    ),
  )

export function checkRunAsGroup(options: Loose | undefined, path: FieldPath): FieldError[] {
  if (!options) return []
  const ranges: Loose[] = options.ranges ?? []
  const at = path.child('ranges')
  const shown = asGo(goRanges(listAsWritten<Loose>(options, 'ranges')))
  if (options.rule === 'RunAsAny') {
    return ranges.length === 0 ? [] : [invalid(at, shown, 'Ranges must be empty')]
  }
  if (options.rule === 'MustRunAs' || options.rule === 'MayRunAs') {
    if (ranges.length > 0) return checkRanges(ranges, at)
    return [invalid(at, shown, 'must provide at least one range')]
  }
  const rules = ['MustRunAs', 'RunAsAny', 'MayRunAs']
  return [notSupported(path.child('rule'), options.rule ?? '', rules)]
}

export function checkRuntimeClass(options: Loose | undefined, path: FieldPath): FieldError[] {
  if (!options) return []
  const allowed: string[] = options.allowedRuntimeClassNames ?? []
  const at = path.child('allowedRuntimeClassNames')
  const isRepeated = repeats(allowed)
  const errors = allowed.flatMap((name, i) => [
    ...(name === '*' ? [] : each(at.index(i), name, nameIsDnsSubdomain(name, false))),
    ...(isRepeated[i] ? [duplicate(at.index(i), name)] : []),
  ])
  const chosen: string | undefined = options.defaultRuntimeClassName
  if (chosen !== undefined) {
    const problems = nameIsDnsSubdomain(chosen, false)
    errors.push(...each(path.child('defaultRuntimeClassName'), chosen, problems))
    if (!allowed.includes(chosen) && !allowed.includes('*')) {
      errors.push(required(at, `default ${goQuote(chosen)} must be allowed`))
    }
  }
  if (allowed.includes('*') && allowed.length > 1) {
    const detail = "if '*' is present, must not specify other RuntimeClass names"
    errors.push(invalid(at, asGo(goStrings(allowed)), detail))
  }
  return errors
}
