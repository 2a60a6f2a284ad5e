/**
 * Keys that users choose (labels, data, fields of custom kinds): sets them safely, and sorts them
 * like Go.
 */

/** Sets a key of the user's choice: `__proto__` becomes a key like any other. */
export function setKey<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value
  else {
    const property = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(object, key, property)
  }
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff

/** Keys in the order Go sorts them: by UTF-8 bytes, which is by code points. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // Surrogate pairs encode code points above all single-unit characters.
    if (isSurrogate(x) === isSurrogate(y)) return x - y
    return isSurrogate(x) ? 1 : -1
  }
  return a.length - b.length
}
