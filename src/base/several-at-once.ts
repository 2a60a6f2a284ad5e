/**
 * Work on many things, several of them at once, begun in their order. It knows nothing of the work.
 */

/**
 * Resolves when all is done. What one piece of work throws is thrown at once, while the others go
 * on.
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
