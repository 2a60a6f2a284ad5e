/**
 * Selects the format that values of a schema must have. Formats without meaning for the type are
 * ignored.
 */
import { change, type Release } from '#api/releases/change.ts'
import { formatCheck } from './formats.ts'
import { isIntOrString, type JsonSchema } from './json-schema.ts'

export interface CheckOptions {
  readonly release: Release
  /** Whether formats without meaning are checked too. */
  readonly keepFormats?: boolean
  /** A schema for numbers or strings may have no type when defaults are checked. */
  readonly eitherUntyped?: boolean
}

const dropsFormats = change('formats without a meaning for texts, such as int64, are ignored', {
  since: 17,
})
const formatsByType = change('formats of numbers apply to numbers, formats of texts to texts', {
  since: 36,
})
/** 1.34 knows these formats, but applies them only when the previous release knows them too. */
const namesAreFormats = change('schemas can have the formats k8s-short-name and k8s-long-name', {
  since: 35,
})

const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}
const nameFormats = ['k8sshortname', 'k8slongname']

/** The type of a schema if it has exactly one. */
const typeOf = (schema: JsonSchema): string => (isIntOrString(schema) ? '' : (schema.type ?? ''))

function isTextFormat(format: string, release: Release): boolean {
  const isName = nameFormats.includes(format.replaceAll('-', ''))
  return formatCheck(format) !== undefined && (!isName || release.has(namesAreFormats))
}

/** Whether kube-apiserver knows the format for the type of the schema. */
function isFormat(format: string, schema: JsonSchema, release: Release): boolean {
  const type = typeOf(schema)
  if (!release.has(formatsByType)) return isTextFormat(format, release)
  if (type === '' || type === 'string') return isTextFormat(format, release)
  return numberFormats[type]?.includes(format) === true
}

/** The format; empty if there is none. */
export function formatOf(schema: JsonSchema, { release, keepFormats }: CheckOptions): string {
  const { format = '' } = schema
  if (format === '') return ''
  const keeps = keepFormats === true || !release.has(dropsFormats)
  return keeps || isFormat(format, schema, release) ? format : ''
}

const warnsOfFormats = change('a definition with an unknown format gets a warning', { since: 34 })

/** Whether a definition gets a warning about an unknown format in the schema. */
export function isUnknownFormat(schema: JsonSchema, release: Release): boolean {
  const { format = '' } = schema
  if (format === '' || !release.has(warnsOfFormats)) return false
  if (!release.has(formatsByType) && typeOf(schema) !== 'string') return false
  return !isFormat(format, schema, release)
}

const checksRanges = change('numbers must fit in their type and format', { since: 36 })

/** A check that a number fits the type and format of a schema. Undefined if every number fits. */
export function rangeCheck(
  schema: JsonSchema,
  { release }: CheckOptions,
): ((value: number | bigint) => boolean) | undefined {
  if (!release.has(checksRanges)) return undefined
  const format = schema.format ?? ''
  if (typeOf(schema) === 'integer') {
    const bits = format === 'int32' ? 31n : 63n
    const [least, most] = [-(2n ** bits), 2n ** bits - 1n]
    return (value) => {
      if (typeof value === 'number' && !Number.isInteger(value)) return false
      const whole = BigInt(value)
      return whole >= least && whole <= most
    }
  }
  if (typeOf(schema) !== 'number' || format !== 'float') return undefined
  return (value) => Number.isFinite(Math.fround(Number(value)))
}
