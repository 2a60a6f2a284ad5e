/** Reads maps with user-defined keys. `__proto__` and `constructor` are ordinary keys. */
export const ownValue = <T>(
  map: Record<string, T> | null | undefined,
  key: string,
): T | undefined =>
  map !== null && map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
