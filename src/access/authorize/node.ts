/**
 * The Node mode: a kubelet (`system:node:<name>` in system:nodes) may do what every node may, and reads a secret, config
 * map, claim, volume or attachment only while something on its node needs it. It never denies: other modes are asked.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import {
  type Attributes,
  type Authorizer,
  allowed,
  type Decision,
  noOpinion,
  type RuleResolver,
  type Rules,
} from '#access/authorize.ts'
import type { User } from '#access/user.ts'
import { nodeRules } from './bootstrap-policy.ts'
import { NodeGraph, type Related } from './node-graph.ts'
import { combinedResource, type PolicyRule, ruleAllows } from './policy-rule.ts'

const none: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
const leaseNamespace = 'kube-node-lease'
/** The first release that says of a node that its rules cannot be told. */
const saysUnresolvedSince = 19

/** The node a user is: undefined for others, empty where the name says no node. */
export function nodeIdentity({ name, groups }: User): string | undefined {
  if (!name.startsWith('system:node:') || !groups.includes('system:nodes')) return undefined
  return name.slice('system:node:'.length)
}

const undecided = (reason: string): Decision => ({ decision: 'none', reason })

export class NodeAuthorizer implements Authorizer, RuleResolver {
  readonly name = 'Node'
  readonly #graph = new NodeGraph()
  readonly #rules: readonly PolicyRule[]
  readonly #release: number
  readonly #feature: (gate: string) => boolean

  constructor(release: number, feature: (gate: string) => boolean) {
    this.#release = release
    this.#feature = feature
    this.#rules = nodeRules(release)
  }

  /** Resolves once every pod, volume and attachment there is has been seen. */
  async follow(reader: ObjectReader): Promise<() => void> {
    const graph = this.#graph
    const name = ({ metadata }: KubeObject) => metadata.name ?? ''
    const stops = await Promise.all([
      reader.follow('', 'pods', {
        changed: (pod) => graph.setPod(pod),
        deleted: (pod) => graph.removePod(pod.metadata.namespace ?? '', name(pod)),
      }),
      reader.follow('', 'persistentvolumes', {
        changed: (volume) => graph.setVolume(volume),
        deleted: (volume) => graph.removeVolume(name(volume)),
      }),
      reader.follow('storage.k8s.io', 'volumeattachments', {
        changed: (attachment) => graph.setAttachment(attachment),
        deleted: (attachment) => graph.removeAttachment(name(attachment)),
      }),
      // By default kubelets took their configuration from config maps until 1.21.
      ...(this.#feature('DynamicKubeletConfig')
        ? [
            reader.follow('', 'nodes', {
              changed: (node) => graph.setNode(node),
              deleted: (node) => graph.removeNode(name(node)),
            }),
          ]
        : []),
    ])
    return () => {
      for (const stop of stops) stop()
    }
  }

  authorize(attributes: Attributes): Decision {
    const node = nodeIdentity(attributes.user)
    if (node === undefined) return noOpinion
    if (node === '') return undecided(`unknown node for user ${goQuote(attributes.user.name)}`)
    const special = attributes.isResource ? this.#single(attributes, node) : undefined
    if (special !== undefined) return special
    const combined = combinedResource(attributes)
    return this.#rules.some((rule) => ruleAllows(rule, attributes, combined)) ? allowed : noOpinion
  }

  rulesFor(user: User): Rules {
    if (this.#release < saysUnresolvedSince || nodeIdentity(user) === undefined) return none
    const error = 'node authorizer does not support user rule resolution'
    return { ...none, incomplete: true, errors: [error] }
  }

  /** Resources of which a node gets only what concerns it; undefined for all others. */
  #single(attributes: Attributes, node: string): Decision | undefined {
    switch (`${attributes.resource}.${attributes.group}`) {
      case 'secrets.':
        return this.#read(attributes, 'secret', node)
      case 'configmaps.':
        return this.#read(attributes, 'configmap', node)
      case 'persistentvolumeclaims.':
        if (attributes.subresource === 'status') return this.#updateStatus(attributes, node)
        return this.#get(attributes, 'claim', node)
      case 'persistentvolumes.':
        return this.#get(attributes, 'volume', node)
      case 'volumeattachments.storage.k8s.io':
        return this.#get(attributes, 'attachment', node)
      case 'serviceaccounts.':
        return this.#createToken(attributes, node)
      case 'leases.coordination.k8s.io':
        return lease(attributes, node)
      case 'csinodes.storage.k8s.io':
        return csiNode(attributes, node)
      default:
        return undefined
    }
  }

  #read(attributes: Attributes, kind: Related, node: string): Decision {
    const { verb, subresource, namespace } = attributes
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch')
      return undecided('can only read resources of this type')
    if (subresource !== '') return undecided('cannot read subresource')
    if (namespace === '') return undecided('can only read namespaced object of this type')
    return this.#related(attributes, kind, node)
  }

  #get(attributes: Attributes, kind: Related, node: string): Decision {
    if (attributes.verb !== 'get')
      return undecided('can only get individual resources of this type')
    if (attributes.subresource !== '') return undecided('cannot get subresource')
    return this.#related(attributes, kind, node)
  }

  #updateStatus(attributes: Attributes, node: string): Decision {
    if (attributes.verb !== 'update' && attributes.verb !== 'patch')
      return undecided('can only get/update/patch this type')
    return this.#related(attributes, 'claim', node)
  }

  #createToken(attributes: Attributes, node: string): Decision {
    if (attributes.verb !== 'create' || attributes.name === '')
      return undecided('can only create tokens for individual service accounts')
    if (attributes.subresource !== 'token')
      return undecided('can only create token subresource of serviceaccount')
    return this.#related(attributes, 'serviceaccount', node)
  }

  #related({ namespace, name }: Attributes, kind: Related, node: string): Decision {
    if (name === '') return undecided('No Object name found')
    if (this.#graph.isRelated(kind, namespace, name, node)) return allowed
    const shown = this.#release < 19 ? goQuote(node) : `'${node}'`
    return undecided(`no relationship found between node ${shown} and this object`)
  }
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

/** A name is not known yet on create; admission checks it then. */
function lease({ verb, namespace, name }: Attributes, node: string): Decision {
  if (!ownVerbs.includes(verb))
    return undecided('can only get, create, update, patch, or delete a node lease')
  if (namespace !== leaseNamespace)
    return undecided(`can only access leases in the "${leaseNamespace}" system namespace`)
  if (verb !== 'create' && name !== node)
    return undecided('can only access node lease with the same name as the requesting node')
  return allowed
}

function csiNode({ verb, subresource, name }: Attributes, node: string): Decision {
  if (!ownVerbs.includes(verb))
    return undecided('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return undecided('cannot authorize CSINode subresources')
  if (verb !== 'create' && name !== node)
    return undecided('can only access CSINode with the same name as the requesting node')
  return allowed
}
