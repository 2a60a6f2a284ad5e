/**
 * The strategy of a kind with a status subresource. A client writes spec and status with different
 * requests: the main resource keeps the status, and the subresource keeps spec and metadata. Kinds
 * extend it; a kind without rules of its own has it as it is.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Behaviour, SubresourceBehaviour } from '#kinds/kind.ts'
import { checkMetadataUpdate } from './metadata.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from './strategy.ts'

export function resetStatus(object: KubeObject): void {
  object.status = {}
}

export const statusSubresource: SubresourceBehaviour = {
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate(next, old) {
    keepSpec(next, old)
    keepObjectMetaForStatus(next, old)
  },
  validateUpdate: checkMetadataUpdate,
}

export const statusStrategy: Behaviour = {
  resetFields: [['status']],
  prepareForCreate: resetStatus,
  prepareForUpdate: keepStatus,
  validateUpdate: checkMetadataUpdate,
  subresources: { status: statusSubresource },
}
