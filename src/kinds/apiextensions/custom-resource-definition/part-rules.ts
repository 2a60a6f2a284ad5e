/**
 * The smaller parts of a definition: columns, subresources, conversion, warnings of deprecation.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { isPrintable } from '#api/go-syntax.ts'
import { dns1035Label } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import {
  checkWebhookService,
  checkWebhookUrl,
} from '#kinds/admissionregistration/webhook-client.ts'
import {
  hasKnownReviewVersion,
  unknownVersionsMessage,
} from '#kinds/admissionregistration/review-versions.ts'
import { stringsValue } from './go-values.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const warningLengthMax = 256

export function checkColumn(column: Loose, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { name, type = '', format = '', JSONPath = '' } = column
  if (!name) errors.push(required(path.child('name')))
  const types = `must be one of ${columnTypes.join(',')}`
  if (type === '') errors.push(required(path.child('type'), types))
  else if (!columnTypes.includes(type)) errors.push(invalid(path.child('type'), type, types))
  if (format !== '' && !columnFormats.includes(format)) {
    errors.push(invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`))
  }
  const at = path.child('JSONPath')
  if (JSONPath === '') errors.push(required(at))
  else errors.push(...checkSimplePath(JSONPath, at))
  return errors
}

const checkSimplePath = (text: string, path: FieldPath): FieldError[] =>
  text.startsWith('.') ? [] : [invalid(path, text, 'must be a simple json path starting with .')]

export function checkSubresources(
  subresources: Loose | null | undefined,
  path: FieldPath,
): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined || scale === null) return []
  const errors: FieldError[] = []
  for (const [name, root] of [
    ['specReplicasPath', 'spec'],
    ['statusReplicasPath', 'status'],
  ]) {
    const at = path.child(`scale.${name}`)
    const text: string = scale[name] ?? ''
    if (text === '') {
      errors.push(required(at))
      continue
    }
    const simple = checkSimplePath(text, at)
    if (simple.length > 0) errors.push(...simple)
    else if (!text.startsWith(`.${root}.`)) {
      errors.push(invalid(at, text, `should be a json path under .${root}`))
    }
  }
  const selector: string = scale.labelSelectorPath ?? ''
  if (selector === '') return errors
  const at = path.child('scale.labelSelectorPath')
  const simple = checkSimplePath(selector, at)
  if (simple.length > 0) errors.push(...simple)
  else if (!selector.startsWith('.spec.') && !selector.startsWith('.status.')) {
    errors.push(invalid(at, selector, 'should be a json path under either .spec or .status'))
  }
  return errors
}

export function checkDeprecation(
  { deprecated, deprecationWarning }: Loose,
  path: FieldPath,
): FieldError[] {
  if (deprecationWarning === undefined || deprecationWarning === null) return []
  const text: string = deprecationWarning
  const refuse = (detail: string) => invalid(path, text, detail)
  if (deprecated !== true) return [refuse('can only be set for deprecated versions')]
  const errors: FieldError[] = []
  if (Buffer.byteLength(text) > warningLengthMax)
    errors.push(refuse('must be <= 256 characters long'))
  if (text === '') errors.push(refuse('must not be an empty string'))
  let at = 0
  for (const ch of text) {
    if (!isPrintable(ch)) {
      const found = `non-printable character found at index ${at}`
      errors.push(refuse(`must only contain printable UTF-8 characters; ${found}`))
      break
    }
    at += Buffer.byteLength(ch)
  }
  return errors
}

export function checkConversion(
  conversion: Loose | null | undefined,
  rules: { readonly knownReviewVersion: boolean; readonly release: number },
  path: FieldPath,
): FieldError[] {
  if (conversion === undefined || conversion === null) return []
  const {
    strategy = '',
    webhookClientConfig: client,
    conversionReviewVersions: versions,
  } = conversion
  const errors: FieldError[] = []
  const strategies = ['None', 'Webhook']
  if (strategy === '') errors.push(required(path.child('strategy')))
  else if (!strategies.includes(strategy)) {
    errors.push(notSupported(path.child('strategy'), strategy, strategies))
  }
  const clientPath = path.child('webhookClientConfig')
  const versionsPath = path.child('conversionReviewVersions')
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (client !== undefined && client !== null) errors.push(forbidden(clientPath, detail))
    if (versions?.length) errors.push(forbidden(versionsPath, detail))
    return errors
  }
  if (client === undefined || client === null) {
    errors.push(required(clientPath, 'required when strategy is set to Webhook'))
  } else errors.push(...checkClient(client, clientPath))
  errors.push(...checkReviewVersions(versions, versionsPath))
  if (rules.knownReviewVersion && !hasKnownReviewVersion(versions, rules.release)) {
    errors.push(
      invalid(versionsPath, stringsValue(versions), unknownVersionsMessage(rules.release)),
    )
  }
  return errors
}

function checkClient({ url, service }: Loose, path: FieldPath): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')]
  }
  return url === undefined
    ? checkWebhookService(service, path.child('service'))
    : checkWebhookUrl(url, path.child('url'))
}

function checkReviewVersions(versions: string[] | null | undefined, path: FieldPath): FieldError[] {
  if (!versions?.length) return [required(path)]
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) {
      errors.push(invalid(path.index(i), version, 'duplicate version'))
      continue
    }
    seen.add(version)
    for (const problem of dns1035Label(version))
      errors.push(invalid(path.index(i), version, problem))
  }
  return errors
}
