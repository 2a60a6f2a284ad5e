/** Validation of signer names: `example.com/signer-name`. */
import { type FieldError, invalid, required, tooLong } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { dns1123Label, dns1123Subdomain, longerThan } from '#api/names.ts'

const domainLengthMax = 253
/** The domain, a slash, and a path as long as a namespace and a name. */
const nameLengthMax = domainLengthMax + 1 + (253 + 63 + 1)

/** `missing` is the detail of the error for an empty name before 1.26. */
export function checkSignerName(name: string, path: FieldPath, missing = ''): FieldError[] {
  if (name === '') return [required(path, missing)]
  const segments = name.split('/')
  if (segments.length !== 2) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [invalid(path, name, detail)]
  }
  const [domain, rest] = segments as [string, string]
  const errors: FieldError[] = []
  if (longerThan(domain, domainLengthMax)) errors.push(tooLong(path, domain, domainLengthMax))
  errors.push(...checkParts(domain, dns1123Label, path))
  if (!domain.includes('.')) {
    const detail = 'should be a domain with at least two segments separated by dots'
    errors.push(invalid(path, domain, detail))
  }
  errors.push(...checkParts(rest, dns1123Subdomain, path))
  if (longerThan(name, nameLengthMax)) errors.push(tooLong(path, name, nameLengthMax))
  return errors
}

/** The problems of the first part between dots that has any. */
function checkParts(
  segment: string,
  problemsOf: (part: string) => string[],
  path: FieldPath,
): FieldError[] {
  for (const part of segment.split('.')) {
    const problems = problemsOf(part)
    if (problems.length === 0) continue
    return problems.map((problem) =>
      invalid(path, segment, `validating label ${goQuote(part)}: ${problem}`),
    )
  }
  return []
}
