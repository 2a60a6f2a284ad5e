/**
 * Admin access to devices, which other claims may use at the same time: only claims in a namespace
 * with a label can have it. The label is set by those who may change the namespace.
 */
import { type FieldError, forbidden, internalFieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import type { Context, NamespaceRule } from '#kinds/kind.ts'

const needsLabel = change('admin access to devices requires a label of the namespace', {
  since: 33,
})
const labelIsOfKubernetes = change(
  'the label for admin access to devices is resource.kubernetes.io/admin-access',
  { since: 34 },
)

/** The check of the first of the requests or results that has admin access. */
function checkFirst(holders: readonly (Loose | undefined)[], path: FieldPath, context: Context) {
  const release = releaseOf(context.release)
  if (!release.has(needsLabel)) return undefined
  const index = holders.findIndex((holder) => holder?.adminAccess === true)
  if (index < 0) return undefined
  const domain = release.has(labelIsOfKubernetes) ? 'resource.kubernetes.io' : 'resource.k8s.io'
  const label = `${domain}/admin-access`
  const at = path.index(index).child('adminAccess')
  return (namespace: KubeObject | undefined): FieldError[] => {
    if (namespace === undefined) {
      const why = `namespaces ${goQuote(context.namespace)} not found`
      return [internalFieldError(at, `could not retrieve namespace to verify admin access: ${why}`)]
    }
    if (namespace.metadata.labels?.[label] === 'true') return []
    const wanted = `\`${label}: true\` label on the containing namespace`
    return [forbidden(at, `admin access to devices requires the ${wanted}`)]
  }
}

const requestsPath = FieldPath.of('spec', 'devices', 'requests')
const resultsPath = FieldPath.of('status', 'allocation', 'devices', 'results')

/** For the spec of a claim. A template has the same paths in its errors as a claim. */
export const checkRequests = (spec: Loose | undefined, context: Context) =>
  checkFirst(
    ((spec?.devices?.requests ?? []) as Loose[]).map(({ exactly }) => exactly),
    requestsPath,
    context,
  )

const resultsOf = ({ status }: KubeObject): Loose[] => status?.allocation?.devices?.results ?? []

/** Access that was granted before is kept, because an allocation is immutable. */
export const checkResults: NamespaceRule = (next, old, context) =>
  old !== undefined && resultsOf(old).some(({ adminAccess }) => adminAccess === true)
    ? undefined
    : checkFirst(resultsOf(next), resultsPath, context)
