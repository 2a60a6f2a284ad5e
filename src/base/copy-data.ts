/**
 * A deep copy of JSON data: objects, arrays and primitive values. It is several times faster than
 * structuredClone, which also handles maps, dates and cycles. Keys may be any text.
 */
export function copyData<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = new Array(value.length)
    for (let i = 0; i < items.length; i++) items[i] = copyData(value[i])
    return items as T
  }
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    const member = copyData((value as Record<string, unknown>)[key])
    if (key !== '__proto__') copy[key] = member
    else define(copy, key, member)
  }
  return copy as T
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}
