/** Every behaviour by its resource, `<group>/<plural>`; the core group is the empty string. */
import type { Behaviour } from '#kinds/kind.ts'

export const behaviours: Readonly<Record<string, Behaviour>> = {}
