/**
 * Evaluates selectors, bindings and parameters of policies for a request, up to their expressions.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { Versioned } from '#admission/webhook/versioned.ts'
import type { Authorizer } from '#access/authorize.ts'
import { groupOf, versionOf } from '#api/api-version.ts'
import { matchesLabels } from '#api/label-selector.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Release } from '#api/releases/change.ts'
import { notFound } from '#api/status-error.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
import { Turns } from '#base/turns.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import {
  type Constraints,
  usesNamespaceSelector,
  matchedKind,
  selectsObject,
} from './constraints.ts'
import { RequestDecisions } from './decisions.ts'
import { Misconfigured } from './parameters.ts'
import type { PolicyHook } from './policy-hook.ts'
import type { PolicyMeter } from './policy-meter.ts'
import { RequestValues } from './request-values.ts'

export interface PolicyParts {
  readonly meter: () => PolicyMeter
  readonly release: Release
  readonly authorizer: Authorizer
  readonly kindNamed: (apiVersion: string, kind: string) => Kind | undefined
}

/** The processing of one request by the policies of one type. */
export class Dispatch {
  readonly request: AdmissionRequest
  readonly reader: ObjectReader
  readonly meter: PolicyMeter
  /** Expressions of one request give way to other requests. */
  readonly turns = new Turns()
  readonly #parts: PolicyParts
  readonly #decisions: RequestDecisions
  readonly #values = new Map<Kind, Awaitable<RequestValues>>()
  #namespace: KubeObject | undefined

  constructor(parts: PolicyParts, request: AdmissionRequest, reader: ObjectReader) {
    this.#parts = parts
    this.meter = parts.meter()
    this.request = request
    this.reader = reader
    this.#decisions = new RequestDecisions(parts.authorizer, request.user)
  }

  /**
   * Whether the selectors match the request. Throws an ApiError if the namespace does not exist.
   */
  isSelected(constraints: Constraints): Awaitable<boolean> {
    const { request } = this
    const selects = () => selectsObject(constraints, request)
    if (!usesNamespaceSelector(constraints, request)) return selects()
    return this.#namespaceLabels().then(
      (labels) => matchesLabels(constraints.namespaceSelector, labels) && selects(),
    )
  }

  /** A binding narrows its policy; its rules never change the version. */
  isBound(constraints: Constraints | undefined): Awaitable<boolean> {
    if (constraints === undefined) return true
    return after(
      this.isSelected(constraints),
      (isSelected) => isSelected && matchedKind(constraints, this.request) !== undefined,
    )
  }

  /**
   * The labels for the namespaceSelector. For a create or update of a Namespace these are the
   * labels of the object; otherwise those of the request's namespace.
   */
  async #namespaceLabels(): Promise<Record<string, string> | undefined> {
    const { kind, operation, subresource, namespace, name, object } = this.request
    const isWritten = operation === 'CREATE' || operation === 'UPDATE'
    if (kind.plural === 'namespaces' && subresource === '' && isWritten)
      return object?.metadata.labels
    return (await this.#findNamespace(namespace || name)).metadata.labels
  }

  async #findNamespace(name: string): Promise<KubeObject> {
    this.#namespace ??= await this.reader.get('', 'namespaces', '', name)
    if (this.#namespace === undefined) throw notFound({ group: '', plural: 'namespaces' }, name)
    return this.#namespace
  }

  /** The values of the request in one version. */
  valuesOf(kind: Kind): Awaitable<RequestValues> {
    const known = this.#values.get(kind)
    if (known !== undefined) return known
    const made = this.#makeValues(kind).then((values) => {
      this.#values.set(kind, values)
      return values
    })
    this.#values.set(kind, made)
    return made
  }

  async #makeValues(kind: Kind): Promise<RequestValues> {
    const { request } = this
    const isNamespace = request.kind.group === '' && request.kind.kind === 'Namespace'
    const inNamespace = request.namespace !== '' && !isNamespace
    const namespace = {
      object: inNamespace ? await this.#findNamespace(request.namespace) : undefined,
      type: this.#parts.kindNamed('v1', 'Namespace')?.type,
    }
    const { minor } = this.#parts.release
    const versioned = await Versioned.of(request, kind, minor)
    return new RequestValues(request, versioned, namespace, this.#decisions, minor)
  }

  /** The kind of a policy's parameters. Throws Misconfigured. */
  paramKindOf({ spec }: PolicyHook<unknown>): Kind | undefined {
    if (!spec.paramKind) return undefined
    const { apiVersion = '', kind = '' } = spec.paramKind
    const found = this.#parts.kindNamed(apiVersion, kind)
    if (found !== undefined) return found
    const version = `${groupOf(apiVersion)}/${versionOf(apiVersion)}`
    throw new Misconfigured(
      `failed to find resource referenced by paramKind: '${version}, Kind=${kind}'`,
    )
  }

  /** Repeats an evaluation each time it needed an asynchronous decision. */
  withDecisions<Result>(evaluate: () => Awaitable<Result>): Awaitable<Result> {
    return this.#decisions.during(evaluate)
  }
}
