/** Groups that belong to Kubernetes need a word of approval in an annotation. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { ownValue } from '#kinds/own-key.ts'
import { isRequestUri } from '#schema/structural/formats-net.ts'

export const approvalAnnotation = 'api-approved.kubernetes.io'
const proposal = 'https://github.com/kubernetes/enhancements/pull/1111'

export interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid'
  readonly reason: string
}

export const isProtectedGroup = (group: string): boolean =>
  /(^|\.)(k8s|kubernetes)\.io$/.test(group)

export function approvalOf({ metadata }: KubeObject): Approval {
  const value = ownValue(metadata.annotations, approvalAnnotation) ?? ''
  const must = `protected groups must have approval annotation ${goQuote(approvalAnnotation)}`
  if (value === '') return { state: 'missing', reason: `${must}, see ${proposal}` }
  if (value.startsWith('unapproved')) {
    return { state: 'bypassed', reason: `not approved: ${goQuote(value)}` }
  }
  if (isRequestUri(value) && /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]/.test(value)) {
    return { state: 'approved', reason: `approved in ${value}` }
  }
  const reason = `${must} with either a URL or a reason starting with "unapproved", see ${proposal}`
  return { state: 'invalid', reason }
}

export function checkApproval(next: KubeObject, old: KubeObject | undefined): FieldError[] {
  if (!isProtectedGroup(next.spec?.group ?? '')) return []
  const { state, reason } = approvalOf(next)
  if (old !== undefined && approvalOf(old).state === state) return []
  const path = FieldPath.of('metadata', 'annotations').key(approvalAnnotation)
  if (state === 'missing') return [required(path, reason)]
  if (state !== 'invalid') return []
  return [invalid(path, ownValue(next.metadata.annotations, approvalAnnotation), reason)]
}
