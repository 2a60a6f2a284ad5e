/** The Date header of responses, formatted once per second. */
let second = 0
let text = ''

export function dateHeader(): string {
  const now = Date.now()
  if (Math.floor(now / 1000) !== second) {
    second = Math.floor(now / 1000)
    text = new Date(now).toUTCString()
  }
  return text
}
