/**
 * Which requests a plugin is for: checked first and without waiting, since every write passes here.
 */
import type { AdmissionRequest, Operation } from './admission.ts'

/** The object itself, not one of its subresources. */
export const isMain = (
  { kind, subresource }: AdmissionRequest,
  group: string,
  plural: string,
): boolean => subresource === '' && kind.plural === plural && kind.group === group

export const isPod = (request: AdmissionRequest): boolean => isMain(request, '', 'pods')

export const isNewPod = (request: AdmissionRequest): boolean =>
  request.operation === 'CREATE' && isPod(request)

export const isWrite = ({ operation }: { operation: Operation }): boolean =>
  operation === 'CREATE' || operation === 'UPDATE'
