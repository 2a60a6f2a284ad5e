/**
 * The source addresses of a request: those in proxy headers, in order, then the address of the
 * connection.
 */
import { isIP } from 'node:net'
import type { Wire } from '#http/exchange.ts'

export function sourceAddresses({ headers, remoteAddress }: Wire): string[] {
  const found: string[] = []
  const add = (text: string) => {
    const address = text.trim()
    if (isIP(address) !== 0 && found.at(-1) !== address) found.push(address)
  }
  for (const one of String(headers['x-forwarded-for'] ?? '').split(',')) add(one)
  if (found.length === 0) add(String(headers['x-real-ip'] ?? ''))
  add(remoteAddress.replace(/^::ffff:(?=\d+\.)/, ''))
  return found
}
