/** The permissions of a node on objects that have its name: its Node, its Lease and its CSINode. */
import { type Attributes, allowed, type Decision, noOpinion } from '#access/authorize.ts'
import { requiresField } from '#access/selectors.ts'

const leaseNamespace = 'kube-node-lease'

export const undecided = (reason: string): Decision => ({ decision: 'none', reason })

/** Whether the field selector of a list limits it to objects of this node. */
export const selectsOwn = ({ selectors }: Attributes, field: string, node: string): boolean =>
  requiresField(selectors, field, node)

/**
 * A node may read its Node object before the object exists. The NodeRestriction plugin checks what
 * it writes.
 */
export function ownNode({ verb, subresource, name }: Attributes, node: string): Decision {
  const writes = verb === 'update' || verb === 'patch'
  if (subresource === 'status') return writes ? allowed : noOpinion
  if (subresource !== '') return noOpinion
  if (writes || verb === 'create') return allowed
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion
  if (name === node) return allowed
  return undecided(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  )
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

/** On create the authorizer does not know the name; the NodeRestriction plugin checks it. */
export function lease({ verb, namespace, name }: Attributes, node: string): Decision {
  if (!ownVerbs.includes(verb))
    return undecided('can only get, create, update, patch, or delete a node lease')
  if (namespace !== leaseNamespace)
    return undecided(`can only access leases in the "${leaseNamespace}" system namespace`)
  if (verb !== 'create' && name !== node)
    return undecided('can only access node lease with the same name as the requesting node')
  return allowed
}

export function csiNode(
  { verb, subresource, name }: Attributes,
  node: string,
  reportsHealth: boolean,
): Decision {
  if (subresource === 'status') {
    if (!reportsHealth) return undecided('CSINode status access requires CSIVolumeHealth feature')
    if (verb !== 'get' && verb !== 'update' && verb !== 'patch')
      return undecided('can only get, update, or patch CSINode status')
  } else if (subresource !== '') return undecided('cannot authorize CSINode subresources')
  else if (!ownVerbs.includes(verb))
    return undecided('can only get, create, update, patch, or delete a CSINode')
  if (verb !== 'create' && name !== node)
    return undecided('can only access CSINode with the same name as the requesting node')
  return allowed
}
