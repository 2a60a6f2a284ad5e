/** Properties that the operations of one kind share, and a function that creates an operation. */
import { change, releaseOf } from '#api/releases/change.ts'
import type { DescribedKind } from './marked-kind.ts'
import { operationId, tagOf } from './names.ts'
import type { GroupVersionKind, Method, OpenApiOperation } from './operation.ts'
import { metaOptions, type Parameter, query } from './parameters.ts'
import { metaType, type OpenApiSource } from './source.ts'

const patchesCanCreate = change('OpenAPI says that a patch can create an object', { since: 22 })

export interface KindScope {
  readonly source: OpenApiSource
  readonly kind: DescribedKind
  readonly custom: boolean
  readonly gvk: GroupVersionKind
  readonly type: string
  /** The path of the collection, including the namespace for namespaced kinds. */
  readonly collection: string
  readonly pathParameters: readonly Parameter[]
  readonly produces: readonly string[]
  readonly consumes: readonly string[]
}

/** Creates one operation. `rest` is the part of its id after group and version. */
export function operation(
  scope: KindScope,
  path: string,
  method: Method,
  verb: string,
  rest: string,
  more: Pick<OpenApiOperation, 'action' | 'description' | 'parameters' | 'codes' | 'answer'> &
    Partial<OpenApiOperation>,
): OpenApiOperation {
  const { group, version } = scope.kind
  return {
    path,
    method,
    id: operationId(verb, group, version, rest),
    tag: tagOf(group, version),
    consumes: scope.consumes,
    produces: scope.produces,
    gvk: scope.gvk,
    ...more,
    parameters: [...more.parameters, query('pretty')],
  }
}

/**
 * Custom kinds do not support strategic merge patch, and their documents do not list 201 for a
 * patch.
 */
export function patchShape({
  source,
  custom,
}: KindScope): Pick<OpenApiOperation, 'action' | 'consumes' | 'body' | 'codes'> {
  const creates = !custom && source.applies && releaseOf(source.release).has(patchesCanCreate)
  return {
    action: 'patch',
    consumes: [
      'application/json-patch+json',
      'application/merge-patch+json',
      ...(custom ? [] : ['application/strategic-merge-patch+json']),
      ...(source.applies ? ['application/apply-patch+yaml'] : []),
      ...(source.applies && source.servesCbor && !custom ? ['application/apply-patch+cbor'] : []),
    ],
    body: { type: metaType('Patch'), required: true },
    codes: creates ? [200, 201] : [200],
  }
}

const forcesPatches = change('OpenAPI has the parameter force of patches of custom objects', {
  since: 27,
})

export const patchParameters = ({ source, custom }: KindScope): Parameter[] =>
  metaOptions(
    source,
    custom && !releaseOf(source.release).has(forcesPatches) ? 'UpdateOptions' : 'PatchOptions',
  )
