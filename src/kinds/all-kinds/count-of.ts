/** The number of keys of a map that may be absent, for table cells. */

export const countOf = (map: object | null | undefined): number => Object.keys(map ?? {}).length
