/**
 * How one version of a resource becomes its hub version and back: field moves on plain objects,
 * which may be changed.
 */
import type { KubeObject } from '#api/object-meta.ts'

export interface Conversion {
  toHub(object: KubeObject, release: number): KubeObject
  fromHub(object: KubeObject): KubeObject
}

/** By apiVersion; versions that differ from the hub in name only have no row. */
export type Conversions = Readonly<Record<string, Conversion>>
