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
import { change, releaseOf } from '#api/releases/change.ts'
import { AuthorizerValue } from '#cel/functions/authorizer.ts'
import { jsonView } from '#cel/json-view.ts'
import { typedView } from '#cel/typed-view.ts'
import type { Value } from '#cel/values.ts'
import { SharedWork } from '#cel/work.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Type } from '#schema/type.ts'
import type { RequestDecisions } from './decisions.ts'
import { requestType } from './request-type.ts'

const showsGoValues = change('admission expressions see built-in kinds as typed values', {
  since: 37,
})

/** The parts of a namespace's metadata that expressions see. */
const namespaceFields = [
  ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation'],
  ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
  ...['labels', 'annotations', 'finalizers'],
] as const

const works = new WeakMap<AdmissionRequest, SharedWork>()

/** The work budget of a request, which all policies and webhooks share. */
function workOf(request: AdmissionRequest): SharedWork {
  let known = works.get(request)
  if (known === undefined) {
    known = new SharedWork()
    works.set(request, known)
  }
  return known
}

/** The type that expressions of the release see; undefined for custom kinds. */
export const shownType = ({ decoding, type }: Kind, release: number): Type | undefined =>
  decoding === 'typed' && releaseOf(release).has(showsGoValues) ? type : undefined

const viewOf = (json: unknown, type: Type | undefined, release: number): Value =>
  type !== undefined && releaseOf(release).has(showsGoValues)
    ? typedView(json, type)
    : jsonView(json)

/** The namespace of a request; undefined if it has none. */
export interface NamespaceView {
  readonly object: KubeObject | undefined
  readonly type: Type | undefined
}

export class RequestValues {
  readonly request: AdmissionRequest
  readonly versioned: Versioned
  readonly decisions: RequestDecisions
  readonly work: SharedWork
  readonly #namespace: NamespaceView | undefined
  readonly #release: number
  #isTyped = false
  #object: Value | undefined
  #old: Value | undefined
  #namespaceValue: Value | undefined
  #matchedRequest: Value | undefined
  #plainRequest: Value | undefined

  constructor(
    request: AdmissionRequest,
    versioned: Versioned,
    namespace: NamespaceView | undefined,
    decisions: RequestDecisions,
    release: number,
  ) {
    this.request = request
    this.versioned = versioned
    this.decisions = decisions
    this.work = workOf(request)
    this.#namespace = namespace
    this.#release = release
  }

  /**
   * Conditions and validations show typed objects. Mutations show JSON, unless conditions came
   * before.
   */
  useTypes(): void {
    this.#isTyped = true
  }

  get object(): Value {
    return (this.#object ??= this.#view(this.versioned.object))
  }

  get old(): Value {
    return (this.#old ??= this.#view(this.versioned.old))
  }

  #view(object: KubeObject | undefined): Value {
    const { kind, own } = this.versioned
    const isTyped = this.#isTyped && own === undefined
    return viewOf(object, isTyped ? shownType(kind, this.#release) : undefined, this.#release)
  }

  /** After a mutation, expressions see the object as it is then. */
  forgetObject(): void {
    this.#object = undefined
  }

  get namespace(): Value {
    return (this.#namespaceValue ??= viewOf(
      this.#namespaceJson(),
      this.#namespace?.type,
      this.#release,
    ))
  }

  #namespaceJson(): Loose | null {
    const object = this.#namespace?.object
    if (object === undefined) return null
    const { metadata, spec = {}, status = {} } = object
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
      ? (this.#matchedRequest ??= this.#requestView(this.versioned.kind))
      : (this.#plainRequest ??= this.#requestView(this.request.kind))
  }

  #requestView(resource: Kind): Value {
    return viewOf(this.#requestJson(resource), requestType, this.#release)
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
