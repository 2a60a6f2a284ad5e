/**
 * The subject of random requests: a few existing objects, and how a request is written. It sends
 * nothing.
 */
import type { Json } from '#api/object-meta.ts'
import type { Random } from './random.ts'
import type { Step } from './two-servers.ts'

export interface Scene {
  /** The run's own namespace. */
  readonly id: string
  /** `/api/v1`, `/apis/apps/v1`. */
  readonly at: string
  readonly plural: string
  readonly collection: string
  readonly namespaced: boolean
  readonly names: readonly string[]
  object(name: string): { [key: string]: Json }
}

export type RequestMaker = (random: Random, scene: Scene) => readonly Step[]

export const encode = encodeURIComponent

/**
 * Some of the parameters, in the order of the table; a value may be left out, empty or given twice.
 */
export function query(
  random: Random,
  table: Readonly<Record<string, readonly string[]>>,
  share: number,
) {
  const parts: string[] = []
  for (const [name, values] of Object.entries(table)) {
    if (!random.chance(share)) continue
    parts.push(`${name}=${random.pick(values)}`)
    if (random.chance(0.04)) parts.push(`${name}=${random.pick(values)}`)
  }
  return parts.join('&')
}

/** A selector that keeps lists of a cluster-wide kind to what the run made. */
export const own = ({ namespaced, id }: Scene): string =>
  namespaced ? '' : `labelSelector=${encode(`run=${id}`)}&`
