/**
 * Addresses that cannot be reached from elsewhere, which endpoints and external addresses of
 * services cannot be.
 */
import { type FieldError, invalid } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { isV4Bytes, parseIp } from '#api/ip-address.ts'

/** An address that can be reached from elsewhere: not unspecified, loopback or link-local. */
export function checkNonSpecialIp(text: string, path: FieldPath): FieldError[] {
  const ip = parseIp(text)
  if (ip === undefined) return [invalid(path, text, 'must be a valid IP address')]
  const errors: FieldError[] = []
  const isV4 = isV4Bytes(ip)
  const bytes = isV4 ? ip.subarray(12) : ip
  const [first = 0, second = 0, third = 0] = bytes
  if (bytes.every((byte) => byte === 0)) {
    errors.push(invalid(path, text, `may not be unspecified (${text})`))
  }
  const loopback = isV4 ? first === 127 : bytes.every((byte, i) => byte === (i === 15 ? 1 : 0))
  if (loopback) {
    errors.push(invalid(path, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'))
  }
  const linkLocal = isV4
    ? first === 169 && second === 254
    : first === 0xfe && (second & 0xc0) === 0x80
  if (linkLocal) {
    const detail = 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'
    errors.push(invalid(path, text, detail))
  }
  const multicast = isV4
    ? first === 224 && second === 0 && third === 0
    : first === 0xff && (second & 0x0f) === 0x02
  if (multicast) {
    const detail = 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'
    errors.push(invalid(path, text, detail))
  }
  return errors
}
