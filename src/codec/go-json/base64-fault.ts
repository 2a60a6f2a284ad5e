/** The error of Go's base64 decoder for a text: the offset of the byte at which it stops. */
const alphabet = /[A-Za-z0-9+/]/
const padding = '='

export function base64Fault(text: string): string | undefined {
  const at = faultAt(Buffer.from(text).toString('latin1'))
  return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
}

/** Decodes four letters at a time and skips line breaks; the last four may have padding. */
function faultAt(text: string): number | undefined {
  let at = 0
  for (;;) {
    let letters = 0
    for (; letters < 4; letters++) {
      while (text[at] === '\n' || text[at] === '\r') at++
      const letter = text[at]
      if (letter === undefined) return letters === 0 ? undefined : at - letters
      at++
      if (alphabet.test(letter)) continue
      if (letter !== padding || letters < 2) return at - 1
      return paddingFault(text, at, letters)
    }
  }
}

/** Padding may be followed only by a second padding character. */
function paddingFault(text: string, after: number, letters: number): number | undefined {
  let at = after
  const skipBreaks = () => {
    while (text[at] === '\n' || text[at] === '\r') at++
  }
  if (letters === 2) {
    skipBreaks()
    if (at === text.length) return text.length
    if (text[at] !== padding) return at - 1
    at++
  }
  skipBreaks()
  return at < text.length ? at : undefined
}
