/** The 403 of plugins about the object of the request, with kube-apiserver's message. */
import { type ApiError, forbiddenRequest } from '#api/status-error.ts'
import type { AdmissionRequest } from './admission.ts'

/** The name of the object. Before a name is generated, generateName is used. */
function nameIn({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
}

export function refusal(request: AdmissionRequest, why: string): ApiError {
  return forbiddenRequest(request.kind, nameIn(request), why)
}

/** Combines problems without duplicates; several problems are put in brackets. */
export function together(problems: readonly string[]): string {
  const stated = [...new Set(problems)]
  return stated.length === 1 ? (stated[0] as string) : `[${stated.join(', ')}]`
}
