/**
 * The Node mode. A kubelet (`system:node:<name>` in system:nodes) has the rights that every node
 * has. It may read a secret, config map, claim, volume or attachment only while a pod on its node
 * needs it. The mode never denies; other modes decide about the rest.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { goQuote } from '#api/go-syntax.ts'
import { change, releaseOf } from '#api/releases/change.ts'
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
import { csiNode, lease, ownNode, selectsOwn, undecided } from './node-own.ts'
import { combinedResource, type PolicyRule, ruleAllows } from './policy-rule.ts'

const none: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
const reportsUnresolvedRules = change(
  'a rules review of a node reports that rules of nodes cannot be listed',
  { since: 19 },
)

const quotesSingly = change('errors of the node authorizer show the node in single quotes', {
  since: 19,
})
const nodesReadAccounts = change('nodes may read the service accounts of their pods', { since: 33 })

/** The node name of a user. Undefined for other users; empty if the user name has no node name. */
export function nodeIdentity({ name, groups }: User): string | undefined {
  if (!name.startsWith('system:node:') || !groups.includes('system:nodes')) return undefined
  return name.slice('system:node:'.length)
}

export class NodeAuthorizer implements Authorizer, RuleResolver {
  readonly name = 'Node'
  readonly #graph = new NodeGraph()
  readonly #rules: readonly PolicyRule[]
  readonly #release: number
  readonly #feature: (gate: string) => boolean

  /** Whether access to resource claims is limited to those of the node's pods. */
  readonly #hasClaims: boolean
  readonly #readsAccounts: boolean

  constructor(release: number, feature: (gate: string) => boolean) {
    this.#release = release
    this.#hasClaims = feature('DynamicResourceAllocation')
    this.#readsAccounts = releaseOf(release).has(nodesReadAccounts)
    this.#feature = feature
    this.#rules = nodeRules(release)
  }

  /** Resolves when all existing pods, volumes and attachments are known. */
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
      ...(this.#feature('DynamicResourceAllocation')
        ? [
            reader.follow('resource.k8s.io', 'resourceslices', {
              changed: (slice) => graph.setOwned('slice', slice),
              deleted: (slice) => graph.removeOwned('slice', slice),
            }),
          ]
        : []),
      ...(this.#feature('PodCertificateRequest')
        ? [
            reader.follow('certificates.k8s.io', 'podcertificaterequests', {
              changed: (request) => graph.setOwned('podcertificaterequest', request),
              deleted: (request) => graph.removeOwned('podcertificaterequest', request),
            }),
          ]
        : []),
      // Until 1.21, kubelets could take their configuration from config maps by default.
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
    if (!releaseOf(this.#release).has(reportsUnresolvedRules) || nodeIdentity(user) === undefined)
      return none
    const error = 'node authorizer does not support user rule resolution'
    return { ...none, incomplete: true, errors: [error] }
  }

  /** The decision for resources with per-node access. Undefined for all other resources. */
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
        return this.#account(attributes, node)
      case 'leases.coordination.k8s.io':
        return lease(attributes, node)
      case 'csinodes.storage.k8s.io':
        return csiNode(attributes, node, this.#feature('CSIVolumeHealth'))
      case 'nodes.':
        return this.#feature('AuthorizeNodeWithSelectors') ? ownNode(attributes, node) : undefined
      case 'pods.':
        return this.#feature('AuthorizeNodeWithSelectors') ? this.#pod(attributes, node) : undefined
      case 'resourceclaims.resource.k8s.io':
        return this.#hasClaims ? this.#get(attributes, 'resourceclaim', node) : undefined
      case 'resourceslices.resource.k8s.io':
        return this.#hasClaims ? this.#slice(attributes, node) : undefined
      case 'podcertificaterequests.certificates.k8s.io':
        return this.#feature('PodCertificateRequest')
          ? this.#certificateRequest(attributes, node)
          : noOpinion
      default:
        return undefined
    }
  }

  /** Kubelets read their pods, and write what the NodeRestriction plugin allows. */
  #pod(attributes: Attributes, node: string): Decision {
    const { verb, subresource, name } = attributes
    switch (subresource) {
      case '':
        if (verb === 'get') return this.#get(attributes, 'pod', node)
        if (verb === 'list' || verb === 'watch') {
          if (selectsOwn(attributes, 'spec.nodeName', node)) return allowed
          if (name !== '') return this.#related(attributes, 'pod', node)
          return undecided('can only list/watch pods with spec.nodeName field selector')
        }
        return verb === 'create' || verb === 'delete' ? allowed : noOpinion
      case 'status':
        return verb === 'update' || verb === 'patch' ? allowed : noOpinion
      case 'eviction':
        return verb === 'create' ? allowed : noOpinion
      default:
        return noOpinion
    }
  }

  #slice(attributes: Attributes, node: string): Decision {
    if (attributes.subresource !== '')
      return undecided('cannot authorize ResourceSlice subresources')
    switch (attributes.verb) {
      case 'create':
        // The NodeRestriction plugin compares the nodeName of the slice.
        return allowed
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return this.#related(attributes, 'slice', node)
      case 'watch':
      case 'list':
      case 'deletecollection':
        // Without AuthorizeNodeWithSelectors, the NodeRestriction plugin checks each deleted
        // object.
        return !this.#feature('AuthorizeNodeWithSelectors') ||
          selectsOwn(attributes, 'spec.nodeName', node)
          ? allowed
          : undecided(
              'can only list/watch/deletecollection resourceslices with nodeName field selector',
            )
      default:
        return undecided(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        )
    }
  }

  #certificateRequest(attributes: Attributes, node: string): Decision {
    const { verb, subresource } = attributes
    if (subresource !== '')
      return undecided('nodes may not access the status subresource of PodCertificateRequests')
    if (verb === 'create') return allowed
    if (verb === 'get') return this.#related(attributes, 'podcertificaterequest', node)
    if (verb !== 'list' && verb !== 'watch')
      return undecided(`nodes may not ${verb} podcertificaterequests`)
    if (selectsOwn(attributes, 'spec.nodeName', node)) return allowed
    return undecided('can only list/watch podcertificaterequests with nodeName field selector')
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

  #account(attributes: Attributes, node: string): Decision {
    const mayRead =
      this.#feature('KubeletServiceAccountTokenForCredentialProviders') ||
      this.#feature('PodCertificateRequest')
    if (this.#readsAccounts && attributes.verb === 'get' && attributes.subresource === '')
      return mayRead
        ? this.#read(attributes, 'serviceaccount', node)
        : undecided('not allowed to get service accounts')
    return this.#createToken(attributes, node)
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
    const shown = releaseOf(this.#release).has(quotesSingly) ? `'${node}'` : goQuote(node)
    return undecided(`no relationship found between node ${shown} and this object`)
  }
}
