/**
 * Checks the formats of strings like kube-apiserver: by the rules of its libraries, which differ
 * from the standards. Unknown formats have no rules.
 */
import { parseDuration } from '#api/duration.ts'
import { isCidr, isIp } from '#api/ip-address.ts'
import { isAddress, isRequestUri } from './formats-net.ts'

/** The maximum length of a text for regular expressions that may take more than linear time. */
const hostnameLengthMax = 255
/** The maximum length of a text that is searched for units of time, for the same reason. */
const durationLengthMax = 4096

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const uuid3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const uuid4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const uuid5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const hexColor = /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/
const shade = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])'
const rgbColor = new RegExp(`^rgb\\(\\s*${shade}\\s*,\\s*${shade}\\s*,\\s*${shade}\\s*\\)$`)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/
const socialSecurity = /^\d{3}[- ]?\d{2}[- ]?\d{4}$/
const objectId = /^[0-9a-fA-F]{24}$/
const card =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/
const word = 'a-zA-Z0-9\\p{S}\\p{L}'
const hostname = new RegExp(
  `^([${word}]((-?[${word}]{0,62})?)|([${word}](([-${word}]{0,61}[${word}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$`,
  'u',
)

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > hostnameLengthMax || !hostname.test(text)) return false
  return text.split('.').every((part) => Buffer.byteLength(part) <= 63)
}

/** A MAC address without separators: six, eight or twenty bytes. */
const bareMac = /^(?:[0-9a-fA-F]{12}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})$/
const mac =
  /^[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}(?:(?:\1[0-9a-fA-F]{2}){2}|(?:\1[0-9a-fA-F]{2}){14})?$/
const dottedMac =
  /^[0-9a-fA-F]{4}\.(?:[0-9a-fA-F]{4}\.)[0-9a-fA-F]{4}(?:(?:\.[0-9a-fA-F]{4})|(?:\.[0-9a-fA-F]{4}){7})?$/

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return Number(digits[12]) === (10 - (sum % 10)) % 10
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!card.test(digits)) return false
  let sum = 0
  for (let i = digits.length - 1, doubled = false; i >= 0; i--, doubled = !doubled) {
    const digit = Number(digits[i]) * (doubled ? 2 : 1)
    sum += digit >= 10 ? (digit % 10) + 1 : digit
  }
  return sum % 10 === 0
}

const monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return false
  const [year, month, day] = match.slice(1).map(Number)
  if (month < 1 || month > 12 || day < 1 || day > monthLengths[month - 1]) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month !== 2 || day < 29 || leap
}

const clock = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/

function isDateTime(text: string): boolean {
  const parts = text.toLowerCase().split('t')
  if (parts.length < 2 || !isDate(parts[0])) return false
  const match = clock.exec(parts[1])
  return match !== null && match[1] <= '23' && match[2] <= '59' && match[3] <= '59'
}

/** Unit names. The last name of each row also matches by prefix. */
const units = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
]

/** A duration in Go's format, or numbers with unit names anywhere in the text. */
function isDuration(text: string): boolean {
  if (parseDuration(text) !== undefined) return true
  if (text.length > durationLengthMax) return false
  let found = false
  for (const [, number, name] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (BigInt(number) > 2n ** 63n - 1n) return false
    const unit = name.toLowerCase()
    found ||= units.some((names) => names.includes(unit) || unit.startsWith(names.at(-1) as string))
  }
  return found
}

const shortName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const longName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const known: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => objectId.test(text),
  uri: isRequestUri,
  email: isAddress,
  hostname: isHostname,
  ipv4: (text) => isIp(text) && text.includes('.'),
  ipv6: (text) => isIp(text) && text.includes(':'),
  cidr: isCidr,
  mac: (text) => mac.test(text) || dottedMac.test(text) || bareMac.test(text),
  uuid: (text) => uuid.test(text),
  uuid3: (text) => uuid3.test(text),
  uuid4: (text) => uuid4.test(text),
  uuid5: (text) => uuid5.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && socialSecurity.test(text),
  hexcolor: (text) => hexColor.test(text),
  rgbcolor: (text) => rgbColor.test(text),
  byte: (text) => base64.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && shortName.test(text),
  k8slongname: (text) => text.length <= 253 && longName.test(text),
}

/** The check of a format, whose name may contain dashes. Undefined for unknown formats. */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  const plain = name.replaceAll('-', '')
  return Object.hasOwn(known, plain) ? known[plain] : undefined
}
