/**
 * The error for a name that is not a valid URL path segment. kube-apiserver's plugins look up names
 * of a pod through the API and return the client's error.
 */
import { goQuote } from '#api/go-syntax.ts'
import { pathSegmentName } from '#api/names.ts'

/** Undefined if the name is valid. */
export function lookupProblem(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty'
  const problems = pathSegmentName(name)
  if (problems.length === 0) return undefined
  return `invalid resource name ${goQuote(name)}: [${problems.join(' ')}]`
}
