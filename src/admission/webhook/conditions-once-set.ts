/**
 * Match conditions of webhooks. Most have none; what evaluates them is loaded with the first that
 * has.
 */
import type { AdmissionRequest } from '#admission/admission.ts'
import { loadLater } from '#base/load-later.ts'
import type { DispatchParts } from './dispatch.ts'
import type { Hook } from './hook.ts'
import type { Versioned } from './versioned.ts'

const loadConditions = loadLater<typeof import('./match-conditions.ts')>(
  import.meta.url,
  './match-conditions',
)

/** Throws an ApiError if a condition fails and the webhook fails closed. */
export async function meetsConditions(
  parts: DispatchParts,
  type: 'admit' | 'validating',
  hook: Hook,
  request: AdmissionRequest,
  versioned: Versioned,
): Promise<boolean> {
  if (hook.conditions.length === 0) return true
  return loadConditions().hookConditionsMet(parts, type, hook, request, versioned)
}
