/** Processes many items with limited concurrency, starting them in order. */

/**
 * Resolves when all work is done. Rejects with the first error at once, while the other work
 * continues.
 */
export async function severalAtOnce<Item>(
  items: Iterable<Item>,
  countMax: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: countMax }, worker))
}
