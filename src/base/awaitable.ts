/** Values that are nearly always at hand: a caller awaits only those that are not there yet. */
export type Awaitable<T> = T | Promise<T>

/** Applies a function to a value, or to its result if it is a promise. */
export function after<T, R>(value: Awaitable<T>, use: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
