/** A value that is usually available at once. Callers await only promises. */
export type Awaitable<T> = T | Promise<T>

/** Applies a function to a value, or to its result if it is a promise. */
export function after<T, R>(value: Awaitable<T>, use: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
