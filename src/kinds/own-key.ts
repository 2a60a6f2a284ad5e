/**
 * Reads from maps whose keys are the user's own: `__proto__` and `constructor` are keys like any
 * other.
 */
export const ownValue = <T>(
  map: Record<string, T> | null | undefined,
  key: string,
): T | undefined =>
  map !== null && map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
