/**
 * One row of the flag table. The key in the table is the name of the flag; the row has everything
 * else. The status `unwired` means that no part of the server reads the flag yet; specifying it is
 * an error.
 */
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
  /** The first and the last emulated release that has the flag; in other releases it is unknown. */
  readonly since?: string
  readonly until?: string
}

interface Releases {
  since?: string
  until?: string
}

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
