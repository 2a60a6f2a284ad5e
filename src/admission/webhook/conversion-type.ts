/**
 * The ConversionReview of an answer as a type, for kube-apiserver's message about what does not fit
 * it.
 */
import { field, listOf, scalar, structOf } from '#schema/make-type.ts'
import type { Struct } from '#schema/type.ts'
import { status, typeMeta } from './review-type.ts'

export function conversionType(version: string): Struct {
  const own = (name: string) => `io.k8s.apiextensions.${version}.${name}`
  const response = structOf(own('ConversionResponse'), [
    field('uid', scalar('string'), 1, ''),
    field('convertedObjects', listOf({ ...scalar('any'), named: 'runtime.RawExtension' }), 2, ''),
    field('result', status, 3, ''),
  ])
  return structOf(own('ConversionReview'), [
    typeMeta,
    field('request', scalar('any'), 1, 'op'),
    field('response', response, 2, 'op'),
  ])
}
