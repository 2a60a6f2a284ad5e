/**
 * The parameters of a policy binding: objects of the policy's paramKind, selected by name or
 * labels.
 */
import { matchesLabels, selectorOf } from '#api/label-selector.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { jsonView } from '#cel/json-view.ts'
import { typedView } from '#cel/typed-view.ts'
import type { Value } from '#cel/values.ts'
import { hubOf, type Kind } from '#kinds/kind.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import { shownType } from './request-values.ts'

/** A parameter. It is null if the policy or binding has none. */
export interface Parameter {
  readonly name: string
  readonly namespace: string
  readonly json: Loose | null
  readonly kind: Kind | undefined
}

const noParameter: readonly Parameter[] = [{ name: '', namespace: '', json: null, kind: undefined }]

/** A parameter as validations see it. */
export const parameterValue = ({ json }: Parameter): Value => jsonView(json)

/** A parameter as mutations see it: typed objects of built-in kinds have no kind of their own. */
export function mutationParameterValue({ json, kind }: Parameter, release: number): Value {
  const type = kind && shownType(kind, release)
  if (json === null || type === undefined) return jsonView(json)
  const { apiVersion: _, kind: __, ...fields } = json
  return typedView(fields, type)
}

/** Why a binding cannot be used; the failure policy decides about the request. */
export class Misconfigured extends Error {}

/** `kind`: the kind of the parameters; undefined if the policy has none. Throws Misconfigured. */
export function parametersOf(
  kind: Kind | undefined,
  ref: Loose | undefined,
  requestNamespace: string,
  reader: ObjectReader,
): Awaitable<readonly Parameter[]> {
  if (kind === undefined || !ref) return noParameter
  return referredTo(kind, ref, requestNamespace, reader)
}

async function referredTo(
  kind: Kind,
  ref: Loose,
  requestNamespace: string,
  reader: ObjectReader,
): Promise<readonly Parameter[]> {
  const namespace = namespaceOf(kind, ref, requestNamespace)
  const objects = await objectsOf(kind, ref, namespace, reader)
  if (objects.length === 0 && ref.parameterNotFoundAction === 'Deny')
    throw new Misconfigured(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    )
  return Promise.all(objects.map((object) => parameterOf(kind, object)))
}

function namespaceOf(kind: Kind, { namespace = '' }: Loose, requestNamespace: string): string {
  if (!kind.namespaced) {
    if (namespace === '') return ''
    throw new Misconfigured(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    )
  }
  const chosen = namespace || requestNamespace
  if (chosen !== '') return chosen
  throw new Misconfigured(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  )
}

async function objectsOf(
  { group, plural }: Kind,
  { name = '', selector }: Loose,
  namespace: string,
  reader: ObjectReader,
): Promise<KubeObject[]> {
  if (name !== '') {
    const object = await reader.get(group, plural, namespace, name)
    return object === undefined ? [] : [object]
  }
  if (!selector) throw new Misconfigured('one of name or selector must be provided')
  const wanted = selectorOf(selector)
  const objects = await reader.list(group, plural, namespace)
  return objects.filter(({ metadata }) => matchesLabels(wanted, metadata.labels))
}

async function parameterOf(kind: Kind, object: KubeObject): Promise<Parameter> {
  const hub = hubOf(kind)
  const { name = '', namespace = '' } = object.metadata
  const [shown] =
    kind === hub ? [object] : await kind.resource.convert([structuredClone(object)], hub, kind)
  const { apiVersion } = kind
  const json = { ...shown, apiVersion, kind: kind.kind }
  return { name, namespace, json, kind }
}
