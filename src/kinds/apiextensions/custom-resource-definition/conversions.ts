/**
 * Converts CustomResourceDefinitions between v1 and v1beta1. v1beta1 has one top-level schema, set
 * of subresources and list of columns if they are equal in all versions. The validation rules use
 * that form too.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  copyWrittenEmpty,
  forgetEmpty,
  rememberEmpty,
  wasWrittenEmpty,
} from '#api/written-empty.ts'
import type { Conversion } from '#kinds/all-kinds/conversion.ts'

/** Fields that v1beta1 can have at the top level: the name there and the name in a version. */
const shared = [
  ['validation', 'schema'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const

const textOf = (value: unknown): string => JSON.stringify(value ?? null)

/**
 * The spec of a stable definition in the beta's form. Shares structure with it, and changes
 * nothing.
 */
export function betaSpec(spec: Loose): Loose {
  const { versions: given, conversion, preserveUnknownFields, group, names, scope, ...rest } = spec
  const versions: Loose[] = (given ?? []).map((one: Loose) => {
    const copy = { ...one }
    copyWrittenEmpty(one, copy)
    return copy
  })
  const beta: Loose = {
    group,
    ...(versions.length > 0 && { version: versions[0].name }),
    names,
    scope,
  }
  for (const [top, own] of shared) {
    if (versions.length === 0 || new Set(versions.map((one) => textOf(one[own]))).size > 1) continue
    const value = versions[0][own]
    if (value !== undefined)
      beta[top] = top === 'additionalPrinterColumns' ? betaColumns(value) : value
    for (const one of versions) {
      delete one[own]
      forgetEmpty(one, own)
    }
  }
  for (const one of versions) {
    if (one.additionalPrinterColumns !== undefined) {
      one.additionalPrinterColumns = betaColumns(one.additionalPrinterColumns)
    }
  }
  const whole = {
    ...beta,
    ...(given !== undefined && { versions: given === null ? null : versions }),
    ...(conversion !== undefined && { conversion: betaConversion(conversion) }),
    preserveUnknownFields: preserveUnknownFields === true,
    ...rest,
  }
  if (wasWrittenEmpty(spec, 'versions')) rememberEmpty(whole, 'versions')
  Object.defineProperty(whole, duplicatesKey, { value: duplicatesIn(spec) })
  return whole
}

const betaColumns = (columns: Loose[]): Loose[] =>
  columns.map(({ jsonPath, ...column }) => ({ ...column, JSONPath: jsonPath }))
const stableColumns = (columns: Loose[]): Loose[] =>
  columns.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath }))

function betaConversion({ strategy, webhook }: Loose): Loose {
  const versions = webhook?.conversionReviewVersions
  return {
    strategy,
    ...(webhook?.clientConfig !== undefined && { webhookClientConfig: webhook.clientConfig }),
    ...(versions !== undefined && versions !== null && { conversionReviewVersions: versions }),
  }
}

function stableConversion({
  strategy,
  webhookClientConfig,
  conversionReviewVersions,
}: Loose): Loose {
  if (webhookClientConfig === undefined && conversionReviewVersions === undefined)
    return { strategy }
  return {
    strategy,
    webhook: {
      ...(webhookClientConfig !== undefined && { clientConfig: webhookClientConfig }),
      conversionReviewVersions: conversionReviewVersions ?? null,
    },
  }
}

/**
 * Fields that a v1beta1 definition specified both at the top level and per version, or equally in
 * all versions.
 */
export interface BetaDuplicates {
  /** The top-level names of the fields. */
  readonly both: readonly string[]
  readonly alike: readonly string[]
  /** `spec.version`, if it differs from the first entry of `spec.versions`. */
  readonly version?: string
}

const duplicatesKey = Symbol('duplicates of a v1beta1 definition')

/**
 * The duplicates that a v1beta1 spec had. v1 has no field for them, but validation needs them. They
 * are stored on the spec object itself, so copies do not have them.
 */
export const duplicatesIn = (spec: Loose): BetaDuplicates =>
  (spec as { [duplicatesKey]?: BetaDuplicates })[duplicatesKey] ?? { both: [], alike: [] }

function rememberDuplicates(from: Loose, to: Loose): void {
  const versions: Loose[] = from.versions ?? []
  const isSaid = (value: unknown) => value !== undefined && value !== null
  const isMany = (value: unknown) => (Array.isArray(value) ? value.length > 0 : isSaid(value))
  const both: string[] = []
  const alike: string[] = []
  for (const [top, own] of shared) {
    const said = versions.map((one) => one[own])
    if (isMany(from[top]) && said.some(isMany)) both.push(top)
    const texts = new Set(said.map(textOf))
    if (said.length > 0 && said.every(isMany) && texts.size === 1) alike.push(top)
  }
  const version = versions.length > 0 && versions[0].name !== from.version && from.version
  if (both.length + alike.length > 0 || version) {
    const said: BetaDuplicates = { both, alike, ...(version && { version }) }
    Object.defineProperty(to, duplicatesKey, { value: said })
  }
}

/** The v1 form of a v1beta1 spec. Every version gets its own values. */
export function stableSpec(spec: Loose): Loose {
  const stable = stableFields(spec)
  rememberDuplicates(spec, stable)
  return stable
}

function stableFields(spec: Loose): Loose {
  let versions: Loose[] = (spec.versions ?? []).map((one: Loose) => ({ ...one }))
  if (versions.length === 0 && spec.version) {
    versions = [{ name: spec.version, served: true, storage: true }]
  }
  for (const [i, one] of versions.entries()) {
    for (const [top, own] of shared) {
      if (spec[top] === undefined || spec[top] === null) continue
      one[own] = i === 0 ? spec[top] : structuredClone(spec[top])
    }
    if (one.additionalPrinterColumns !== undefined) {
      one.additionalPrinterColumns = stableColumns(one.additionalPrinterColumns)
    }
  }
  const { group, names, scope, conversion, preserveUnknownFields } = spec
  return {
    group,
    names,
    scope,
    versions: versions.length === 0 ? null : versions.map(inOrder),
    ...(conversion !== undefined && { conversion: stableConversion(conversion) }),
    ...(preserveUnknownFields === true && { preserveUnknownFields }),
  }
}

/** The fields of a version in the order of the stable type. */
function inOrder(version: Loose): Loose {
  const { schema, subresources, additionalPrinterColumns, selectableFields, ...rest } = version
  return {
    ...rest,
    ...(schema !== undefined && { schema }),
    ...(subresources !== undefined && { subresources }),
    ...(additionalPrinterColumns !== undefined && { additionalPrinterColumns }),
    ...(selectableFields !== undefined && { selectableFields }),
  }
}

const withSpec = (object: KubeObject, spec: Loose): KubeObject => {
  const { kind, apiVersion, metadata, spec: _, ...rest } = object
  return { kind, apiVersion, metadata, spec, ...rest }
}

export const customResourceDefinitionConversions: Readonly<Record<string, Conversion>> = {
  'apiextensions.k8s.io/v1beta1': {
    toHub: (object) => withSpec(object, stableSpec(object.spec ?? {})),
    fromHub: (object) => withSpec(object, betaSpec(object.spec ?? {})),
  },
}
