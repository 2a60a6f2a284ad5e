/**
 * The OwnerReferencesPermissionEnforcement plugin. A user who adds an owner reference could have
 * the object deleted with its owner, or block the owner's deletion. So the user needs permission to
 * delete the object and, for blockOwnerDeletion, to update the owner's finalizers.
 */
import type { Authorizer, Decision } from '#access/authorize.ts'
import type { KubeObject, OwnerReference } from '#api/object-meta.ts'
import { semanticEqual } from '#api/semantic-equal.ts'
import type { Kind } from '#kinds/kind.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { isWrite } from './match.ts'
import { refusal } from './refusal.ts'

export interface OwnerOptions {
  readonly authorizer: Authorizer
  /** The kind to which an owner reference refers. */
  readonly kindNamed: (apiVersion: string, kind: string) => Kind | undefined
}

export function ownerReferencesPermission(options: OwnerOptions): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate(request) {
      if (!isWrite(request) || request.object?.metadata === undefined) return
      const { kind, subresource } = request
      if (kind.group === '' && kind.plural === 'pods' && subresource === 'status') return
      if (semanticEqual(ownersOf(request.object), ownersOf(request.old))) return
      return requireRights(request, options)
    },
  }
}

const ownersOf = (object: KubeObject | undefined): OwnerReference[] =>
  object?.metadata.ownerReferences ?? []

const why = ({ reason, error }: Decision) => `${reason}, ${error ?? '<nil>'}`

async function requireRights(
  request: AdmissionRequest,
  { authorizer, kindNamed }: OwnerOptions,
): Promise<void> {
  const { kind, namespace, name, subresource, user } = request
  const ask = { user, isResource: true, path: '' }
  if (request.operation !== 'CREATE') {
    const { group, version, plural } = kind
    const decision = await authorizer.authorize({
      ...ask,
      verb: 'delete',
      group,
      version,
      resource: plural,
      subresource,
      namespace,
      name,
    })
    if (decision.decision !== 'allow') {
      throw refusal(
        request,
        `cannot set an ownerRef on a resource you can't delete: ${why(decision)}`,
      )
    }
  }
  const blocking = newlyBlocking(request)
  if (blocking.length === 0) return
  const finalize = { ...ask, verb: 'update', subresource: 'finalizers' }
  const anything = await authorizer.authorize({
    ...finalize,
    group: '*',
    version: '*',
    resource: '*',
    namespace: '',
    name: '*',
  })
  if (anything.decision === 'allow') return
  for (const owner of blocking) {
    const found = kindNamed(owner.apiVersion, owner.kind)
    if (found === undefined) {
      const version = owner.apiVersion
      throw refusal(
        request,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${version} Kind ${owner.kind}: no matches for kind "${owner.kind}" in version "${version}"`,
      )
    }
    const decision = await authorizer.authorize({
      ...finalize,
      group: found.group,
      version: found.version,
      resource: found.plural,
      namespace: found.namespaced ? namespace : '',
      name: owner.name,
    })
    if (decision.decision === 'allow') continue
    throw refusal(
      request,
      `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${why(decision)}`,
    )
  }
}

function newlyBlocking({ object, old }: AdmissionRequest): OwnerReference[] {
  const before = new Map(ownersOf(old).map((owner) => [owner.uid, owner]))
  return ownersOf(object).filter(
    ({ blockOwnerDeletion, uid }) =>
      blockOwnerDeletion === true && before.get(uid)?.blockOwnerDeletion !== true,
  )
}
