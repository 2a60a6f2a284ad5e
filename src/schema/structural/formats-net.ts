/** URIs and email addresses, validated like Go's url.ParseRequestURI and mail.ParseAddress. */

/** Limit of a URI: far more than browsers accept. */
const uriLengthMax = 65_536
/** Limit of an email address: longer than any valid one, and short enough to check at once. */
const addressLengthMax = 4096

const hasControl = (text: string) => /[\u0000-\u001f\u007f]/.test(text)
const wrongEscape = /%(?![0-9a-fA-F]{2})/

/** An absolute URI, or an absolute path. */
export function isRequestUri(text: string): boolean {
  if (text === '' || text.length > uriLengthMax || hasControl(text)) return false
  if (text === '*') return true
  const colon = text.indexOf(':')
  let rest = text
  let scheme = ''
  if (colon === 0) return false
  if (colon > 0 && /^[a-zA-Z][a-zA-Z0-9+.-]*$/.test(text.slice(0, colon))) {
    scheme = text.slice(0, colon)
    rest = text.slice(colon + 1)
  } else if (colon > 0 && /^[0-9+.-][a-zA-Z0-9+.-]*$/.test(text.slice(0, colon))) return false
  const mark = rest.indexOf('?')
  if (mark !== -1) rest = rest.slice(0, mark)
  if (!rest.startsWith('/')) return scheme !== ''
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///')))
    return !wrongEscape.test(rest)
  if (scheme === '') return !wrongEscape.test(rest)
  const slash = rest.indexOf('/', 2)
  const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash)
  if (slash !== -1 && wrongEscape.test(rest.slice(slash))) return false
  return isAuthority(authority)
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at !== -1 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(text.slice(0, at))) return false
  if (at !== -1 && wrongEscape.test(text.slice(0, at))) return false
  const host = text.slice(at + 1)
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    return end !== -1 && /^(:[0-9]*)?$/.test(host.slice(end + 1))
  }
  const colon = host.lastIndexOf(':')
  if (colon !== -1 && !/^:[0-9]*$/.test(host.slice(colon))) return false
  // In hosts, only bytes outside ASCII may be escaped.
  if (/%(?![89a-fA-F][0-9a-fA-F])/.test(host)) return false
  return /^[^\u0000-\u0020"<>\\^`{|}/?#]*$|^[^\u0000-\u0020\\^`{|}/?#]*$/.test(host)
}

const atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\uffff]+"
const dotAtom = `${atom}(?:\\.${atom})*`
const quoted = '"(?:[^"\\\\\\u0000-\\u0008\\u000a-\\u001f\\u007f]|\\\\[^\\u0000-\\u001f])*"'
const plainAddress = new RegExp(`^(?:${dotAtom}|${quoted})@${dotAtom}$`)
const nameWord = new RegExp(`^(?:[A-Za-z0-9!#$%&'*+\\-/=?^_\`{|}~\\u0080-\\uffff.]+|${quoted})$`)

/** Accepts `a@b`, `<a@b>` or `Some Name <a@b>`. */
export function isAddress(given: string): boolean {
  if (given.length > addressLengthMax) return false
  const text = given.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
  if (plainAddress.test(text)) return true
  const open = text.lastIndexOf('<')
  if (open === -1 || !text.endsWith('>')) return false
  if (!plainAddress.test(text.slice(open + 1, -1))) return false
  const name = text.slice(0, open)
  return name.trim() === '' || isDisplayName(name)
}

function isDisplayName(text: string): boolean {
  const words = text.match(/"(?:[^"\\]|\\.)*"|[^ \t"]+/g) ?? []
  return words.every((one) => nameWord.test(one))
}
