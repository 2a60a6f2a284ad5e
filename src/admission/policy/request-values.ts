/**
 * The values of one request that expressions see, in the version that a policy matched. They are
 * made when an expression first reads them, and all policies that matched this version share them.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import {
  kindOf,
  namespaceOf,
  optionsOf,
  ownKindOf,
  resourceOf,
  userInfoOf,
} from '#admission/webhook/review.ts'
import type { Versioned } from '#admission/webhook/versioned.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { AuthorizerValue } from '#cel/functions/authorizer.ts'
import { jsonView } from '#cel/json-view.ts'
import type { Value } from '#cel/values.ts'
import type { Kind } from '#kinds/kind.ts'
import type { RequestDecisions } from './decisions.ts'

/** The parts of a namespace's metadata that expressions see. */
const namespaceFields = [
  ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation'],
  ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
  ...['labels', 'annotations', 'finalizers'],
] as const

export class RequestValues {
  readonly request: AdmissionRequest
  readonly versioned: Versioned
  readonly decisions: RequestDecisions
  readonly #namespace: KubeObject | undefined
  readonly #release: number
  #object: Value | undefined
  #old: Value | undefined
  #namespaceValue: Value | undefined
  #matchedRequest: Value | undefined
  #plainRequest: Value | undefined

  constructor(
    request: AdmissionRequest,
    versioned: Versioned,
    namespace: KubeObject | undefined,
    decisions: RequestDecisions,
    release: number,
  ) {
    this.request = request
    this.versioned = versioned
    this.decisions = decisions
    this.#namespace = namespace
    this.#release = release
  }

  get object(): Value {
    return (this.#object ??= jsonView(this.versioned.object))
  }

  get old(): Value {
    return (this.#old ??= jsonView(this.versioned.old))
  }

  /** After a mutation, expressions see the object as it is then. */
  forgetObject(): void {
    this.#object = undefined
  }

  get namespace(): Value {
    return (this.#namespaceValue ??= jsonView(this.#namespaceJson()))
  }

  #namespaceJson(): Loose | null {
    if (this.#namespace === undefined) return null
    const { metadata, spec = {}, status = {} } = this.#namespace
    const shown: Loose = {}
    for (const field of namespaceFields)
      if (metadata[field as 'name'] !== undefined) shown[field] = metadata[field as 'name']
    return { metadata: shown, spec, status }
  }

  /**
   * `matched`: the resource has the version that the policy matched. Only match conditions see the
   * requested version.
   */
  requestValue(matched: boolean): Value {
    return matched
      ? (this.#matchedRequest ??= jsonView(this.#requestJson(this.versioned.kind)))
      : (this.#plainRequest ??= jsonView(this.#requestJson(this.request.kind)))
  }

  #requestJson(resource: Kind): Loose {
    const { request, versioned } = this
    const { kind, subresource, operation, dryRun, name } = request
    const own = ownKindOf(request)
    const namespace = namespaceOf(request, this.#release)
    return {
      uid: '',
      kind: own ?? kindOf(versioned.kind),
      resource: resourceOf(resource),
      ...(subresource !== '' && { subResource: subresource }),
      requestKind: own ?? kindOf(kind),
      requestResource: resourceOf(kind),
      ...(subresource !== '' && { requestSubResource: subresource }),
      ...(name !== '' && { name }),
      ...(namespace !== '' && { namespace }),
      operation,
      userInfo: userInfoOf(request),
      object: null,
      oldObject: null,
      dryRun,
      options: optionsOf(request),
    }
  }

  get authorizer(): Value {
    return new AuthorizerValue(this.decisions)
  }

  /** An authorization check for the resource of the request. */
  get resourceAuthorizer(): Value {
    const { kind, subresource, namespace, name } = this.request
    return new AuthorizerValue(this.decisions, 'ResourceCheck', {
      group: kind.group,
      resource: kind.plural,
      subresource,
      namespace,
      name,
      fieldSelector: '',
      labelSelector: '',
    })
  }
}
