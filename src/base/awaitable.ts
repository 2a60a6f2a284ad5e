/** Values that are nearly always at hand: a caller awaits only those that are not there yet. */
export type Awaitable<T> = T | Promise<T>

/** What is made of a value, at once or once it is there. */
export function after<T, R>(value: Awaitable<T>, use: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
