/**
 * Restores the previous managedFields if a mutating webhook made them invalid, and warns the
 * client. It checks only the entries, not the fields they contain.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import type { ManagedFieldsEntry } from '#api/object-meta.ts'
import { decodeManaged } from '#patch/apply/managed-fields.ts'

export function keepReadableOwners(
  { object, warnings }: AdmissionRequest,
  before: ManagedFieldsEntry[] | undefined,
): void {
  if (object?.metadata === undefined) return
  try {
    decodeManaged(object.metadata.managedFields)
  } catch (error) {
    if (before === undefined) delete object.metadata.managedFields
    else object.metadata.managedFields = before
    warnings.push(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${(error as Error).message}`,
    )
  }
}
