/**
 * One row of the flag table. The key in the table is the name of the flag; the row has everything
 * else. The status `unwired` means that no part of the server reads the flag yet; specifying it is
 * an error.
 */
import { change, type ReleaseChange, type Span } from '#api/releases/change.ts'
import type { FlagType } from './flag-value.ts'

export const groups = [
  'Serving',
  'Storage',
  'Requests',
  'Release and features',
  'Services',
  'Authentication',
  'Service accounts',
  'OpenID Connect',
  'Webhook authentication and authenticating proxy',
  'Authorization',
  'Admission',
  'Audit',
  'Kubelets and aggregated servers',
  'Controllers',
  'Instruments',
] as const
export type Group = (typeof groups)[number]

export type FlagStatus = 'wired' | 'unwired'

export interface Row<T, Unit extends string = string> {
  readonly group: Group
  readonly shape: FlagType<T, Unit>
  readonly initial: T
  readonly status: FlagStatus
  readonly meaning: string
  /** The releases that have the flag; in others it is unknown. Absent: all. */
  readonly only?: ReleaseChange
}

/** `since 1.18` or `until 1.18`; empty for a flag of all releases. */
export function releasesOf({ only }: Row<unknown>): string {
  const { since, until } = only?.spans[0] ?? {}
  if (since !== undefined) return `since 1.${since}`
  return until === undefined ? '' : `until 1.${until}`
}

interface Releases {
  readonly only?: ReleaseChange
}

/** The releases of a flag that some have. */
export const some = (name: string, ...spans: Span[]): Releases => ({
  only: change(`there is the flag --${name}`, ...spans),
})

export function row<T, Unit extends string>(
  group: Group,
  shape: FlagType<T, Unit>,
  initial: T,
  status: FlagStatus,
  meaning: string,
  releases: Releases = {},
): Row<T, Unit> {
  return { group, shape, initial, status, meaning, ...releases }
}

/** A row without a default: its setting is undefined unless the flag is specified. */
export function unset<T, Unit extends string>(
  group: Group,
  shape: FlagType<T, Unit>,
  status: FlagStatus,
  meaning: string,
  releases: Releases = {},
): Row<T | undefined, Unit> {
  const optional: FlagType<T | undefined, Unit> = {
    ...shape,
    show: (value) => (value === undefined ? '' : shape.show(value)),
  }
  return { group, shape: optional, initial: undefined, status, meaning, ...releases }
}
