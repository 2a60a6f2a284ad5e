/**
 * Work on many things, several of them at once, begun in their order. It knows nothing of the work.
 */

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
