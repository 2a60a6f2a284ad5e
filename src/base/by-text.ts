/**
 * The answers of a function of a text, kept for the texts that were asked lately: few images make most pods, few clients
 * send most requests. When there are too many all are forgotten, which costs less than to know which was asked last.
 */

/** Longer texts are asked each time: hardly any comes twice, and strangers could fill the memory with them. */
const lengthMax = 4096

/** What throws is asked again. */
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
