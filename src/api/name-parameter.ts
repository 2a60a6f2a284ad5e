/**
 * Validates a name from a request body before it is used in a lookup: it must be a valid path
 * segment.
 */
import { goQuote } from './go-syntax.ts'
import { pathSegmentName } from './names.ts'
import { badRequest } from './status-error.ts'

export function refuseUnfitName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.')
  const problems = pathSegmentName(name)
  if (problems.length === 0) return
  throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
}
