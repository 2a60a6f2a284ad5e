/**
 * The static table of RFC 7541, appendix A: header fields that both sides know by number from the
 * start.
 */

export interface HeaderField {
  readonly name: string
  readonly value: string
}

const rows = `
:authority|
:method|GET
:method|POST
:path|/
:path|/index.html
:scheme|http
:scheme|https
:status|200
:status|204
:status|206
:status|304
:status|400
:status|404
:status|500
accept-charset|
accept-encoding|gzip, deflate
accept-language|
accept-ranges|
accept|
access-control-allow-origin|
age|
allow|
authorization|
cache-control|
content-disposition|
content-encoding|
content-language|
content-length|
content-location|
content-range|
content-type|
cookie|
date|
etag|
expect|
expires|
from|
host|
if-match|
if-modified-since|
if-none-match|
if-range|
if-unmodified-since|
last-modified|
link|
location|
max-forwards|
proxy-authenticate|
proxy-authorization|
range|
referer|
refresh|
retry-after|
server|
set-cookie|
strict-transport-security|
transfer-encoding|
user-agent|
vary|
via|
www-authenticate|`

/** By index, which starts at 1. */
export const staticFields: readonly HeaderField[] = rows.split('\n').map((row) => {
  const [name = '', value = ''] = row.split('|')
  return { name, value }
})

/** The first number of each header name. */
export const staticNumberOf: ReadonlyMap<string, number> = new Map(
  staticFields.map(({ name }, number) => [name, number] as const).reverse(),
)
