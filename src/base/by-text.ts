/**
 * Caches the results of a function of a text by recent texts. Most pods have one of few images, and
 * few clients send most requests. When the cache is full it is emptied, which costs less than
 * tracking the least recent text.
 */

/**
 * Longer texts are not cached: few of them repeat, and a client could fill the memory with them.
 */
const lengthMax = 4096

/** An error is not cached: the function is called again. */
export function byText<Answer extends object | string | boolean | null>(
  find: (text: string) => Answer,
  textsMax = 256,
): (text: string) => Answer {
  const known = new Map<string, Answer>()
  return (text) => {
    let answer = known.get(text)
    if (answer !== undefined) return answer
    answer = find(text)
    if (text.length > lengthMax) return answer
    if (known.size === textsMax) known.clear()
    known.set(text, answer)
    return answer
  }
}
