/** How versions of a resource become its hub version and back, by resource and apiVersion; those alike need no row. */
import type { KubeObject } from '#api/object-meta.ts'

export interface Conversion {
  toHub(object: KubeObject): KubeObject
  fromHub(object: KubeObject): KubeObject
}

export const conversions: Readonly<Record<string, Readonly<Record<string, Conversion>>>> = {}
