/**
 * What fills in the defaults of one type of one version, and what it may know besides the value.
 * Tables are keyed by OpenAPI type name (`io.k8s.api.core.v1.ServiceSpec`); a value is defaulted
 * before the values inside it, so a default may add a child that is defaulted in turn. Defaulters
 * never refuse anything.
 */
import type { Loose } from '#api/object-meta.ts'

export interface DefaultsContext {
  /** Minor number of the emulated release: 22. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** The time, as RFC 3339 with whole seconds; absent where objects are only read. */
  readonly time?: () => string
}

export type Defaulter = (value: Loose, context: DefaultsContext) => void

export type Defaulters = Readonly<Record<string, Defaulter>>
