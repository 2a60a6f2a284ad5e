/** Devices that a pod claims, and the claims that its containers use. */
import { duplicate, type FieldError, fieldNotFound, forbidden, required } from '#api/field-error.ts'
import { invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose, ObjectMeta } from '#api/object-meta.ts'
import { checkDns1123Label, each } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'

const mirrorKey = 'kubernetes.io/config.mirror'
const claimType = 'io.k8s.api.core.v1.PodResourceClaim'
const sources = ['resourceClaimName', 'resourceClaimTemplateName']
const sourcesShown = sources.map((source) => `\`${source}\``)

/** Names of the pod's resource claims, to which its containers can refer. */
export const claimNamesOf = (spec: Loose): ReadonlySet<string> =>
  new Set(((spec.resourceClaims ?? []) as Loose[]).map(({ name }) => name).filter(Boolean))

/** `meta` is the pod's own; templates have none. */
export function checkPodClaims(
  claims: Loose[] | null | undefined,
  meta: ObjectMeta | undefined,
  path: FieldPath,
): FieldError[] {
  const names = new Set<string>()
  const isMirror = Object.hasOwn(meta?.annotations ?? {}, mirrorKey)
  return (claims ?? []).flatMap((claim, i) =>
    isMirror
      ? [forbidden('[]', 'static pods do not support resource claims')]
      : checkPodClaim(claim, names, path.index(i)),
  )
}

function checkPodClaim(claim: Loose, names: Set<string>, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const name: string = claim.name ?? ''
  if (name === '') errors.push(required(path.child('name')))
  else if (names.has(name)) errors.push(duplicate(path.child('name'), name))
  else errors.push(...checkDns1123Label(name, path.child('name')))
  names.add(name)
  const set = sources.filter((source) => typeof claim[source] === 'string')
  const shown = internalValue(claimType, claim)
  if (set.length > 1) {
    const detail = `at most one of ${sourcesShown.join(' or ')} may be specified`
    errors.push(invalid(path, shown, detail))
  }
  if (set.length === 0) {
    errors.push(invalid(path, shown, `must specify one of: ${sourcesShown.join(', ')}`))
  }
  for (const source of set) {
    const problems = nameIsDnsSubdomain(claim[source], false)
    errors.push(...each(path.child(source), claim[source], problems))
  }
  return errors
}

/**
 * Claims of one container, or parts of them: a claim is either used whole or request by request.
 */
export function checkContainerClaims(
  claims: Loose[] | null | undefined,
  podClaims: ReadonlySet<string>,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const used = new Set<string>()
  ;(claims ?? []).forEach(({ name = '', request = '' }, i) => {
    const at = path.index(i)
    if (name === '') {
      errors.push(required(at))
      return
    }
    errors.push(...checkUse(name, request, used, at))
    if (!podClaims.has(name)) errors.push(notClaimed(name, podClaims, at))
  })
  return errors
}

function checkUse(name: string, request: string, used: Set<string>, path: FieldPath): FieldError[] {
  if (used.has(name)) return [duplicate(path, name)]
  const errors = request === '' ? [] : checkDns1123Label(request, path.child('request'))
  const key = request === '' ? name : `${name}/${request}`
  if (used.has(key)) errors.push(duplicate(path, key))
  else if (request === '') {
    for (const other of used) if (other.startsWith(`${name}/`)) errors.push(duplicate(path, name))
  }
  used.add(key)
  return errors
}

function notClaimed(name: string, podClaims: ReadonlySet<string>, path: FieldPath): FieldError {
  const error = fieldNotFound(path, name)
  const all = podClaims.size === 0 ? ' which is empty' : `: ${[...podClaims].sort().join(', ')}`
  error.message += `: must be one of the names in pod.spec.resourceClaims${all}`
  return error
}
