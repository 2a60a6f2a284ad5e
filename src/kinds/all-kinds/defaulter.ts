/**
 * A function that applies the defaults of one type in one version, and its context. Tables are
 * keyed by OpenAPI type name (`io.k8s.api.core.v1.ServiceSpec`). A value gets its defaults before
 * its children, so a default may add a child that then gets defaults too. Defaulters never reject a
 * value.
 */
import type { Loose } from '#api/object-meta.ts'

export interface DefaultsContext {
  /** Minor number of the emulated release: 22. */
  readonly release: number
  readonly feature: (gate: string) => boolean
  /** The current time as RFC 3339 with whole seconds. Absent if objects are only read. */
  readonly time?: () => string
}

export type Defaulter = (value: Loose, context: DefaultsContext) => void

export type Defaulters = Readonly<Record<string, Defaulter>>
