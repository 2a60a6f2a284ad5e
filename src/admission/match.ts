/**
 * Quick checks whether a plugin handles a request. They run first and synchronously, because every
 * write passes here.
 */
import type { AdmissionRequest, Operation } from './admission.ts'

/** Whether the request concerns the object itself, not a subresource. */
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
