/**
 * Field ownership in a body whose kind differs from that of its resource: Scale, Binding, Eviction.
 * Such a kind has one version. Its managedFields exist only during admission, because it is not
 * stored.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { type FieldManagerKind, recordUpdate } from '#patch/apply/field-manager.ts'
import { ownsFirstWrite, setManaged } from '#verbs/ownership.ts'
import { type Server, timestamp, type WriteRequest } from '#verbs/server.ts'

const ownersNameSubresource = change('entries of managedFields name the subresource', { since: 22 })

interface BodyType {
  readonly apiVersion: string
  readonly kind: string
}

export function bodyManager(server: Server, { apiVersion, kind }: BodyType): FieldManagerKind {
  return {
    apiVersion,
    kind,
    typeFor: (version) => (version === apiVersion ? server.typeNamed(apiVersion, kind) : undefined),
    convert: (object, to) => (to === apiVersion ? object : undefined),
    resetFields: () => undefined,
    release: server.release,
    saysSubresource: releaseOf(server.release).has(ownersNameSubresource),
  }
}

/** `type`: the type of the body, if the body need not name it. */
export function claimBody(
  server: Server,
  request: WriteRequest,
  body: KubeObject,
  type: BodyType = { apiVersion: body.apiVersion ?? '', kind: body.kind ?? '' },
): void {
  if (!releaseOf(server.release).has(ownsFirstWrite) || !server.feature('ServerSideApply')) return
  const who = {
    manager: request.options.fieldManager,
    subresource: request.target.subresource,
    now: timestamp(server.clock),
  }
  setManaged(body, recordUpdate(bodyManager(server, type), undefined, body, who))
}
