import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArrayList } from '#cel/collections.ts'
import { singleImplementations } from '#cel/functions/standard.ts'
import { showValue } from '#cel/show-value.ts'
import { Duration, OpaqueValue, Optional, Uint, type Value } from '#cel/values.ts'
import { implementations } from './implementations.ts'

const call = (id: string, ...args: Value[]): Value => {
  const implementation = implementations.get(id) ?? singleImplementations.get(id)?.call
  assert.ok(implementation, `no implementation of ${id}`)
  return implementation(...(args as [Value, Value, Value, Value]))
}

const text = (value: Value): string =>
  value instanceof OpaqueValue ? value.toString() : showValue(value)

const list = (...elements: Value[]) => new ArrayList(elements)
const ip = (address: string) => call('string_to_ip', address)
const cidr = (block: string) => call('string_to_cidr', block)
const quantity = (amount: string) => call('string_to_quantity', amount)
const semver = (version: string) => call('string_to_semver', version)
const url = (address: string) => call('string_to_url', address)

type Row = readonly [id: string, args: readonly Value[], expected: string]

const rows: Readonly<Record<string, readonly Row[]>> = {
  operators: [
    ['_+_', [1n, 2n], '3'],
    ['_+_', [2n ** 63n - 1n, 1n], 'integer overflow'],
    ['_+_', [1n, new Uint(1n)], 'no such overload'],
    ['_-_', [new Uint(1n), new Uint(2n)], 'unsigned integer overflow'],
    ['_/_', [7n, -2n], '-3'],
    ['_/_', [1n, 0n], 'division by zero'],
    ['_%_', [-7n, 2n], '-1'],
    ['_%_', [1n, 0n], 'modulus by zero'],
    ['-_', [-(2n ** 63n)], 'integer overflow'],
    ['-_', [true], 'no such overload'],
    ['_<_', [1n, 1.5], 'true'],
    ['_<_', [Number.NaN, 1n], 'NaN values cannot be ordered'],
    ['_<_', ['\u{ffff}', '\u{10000}'], 'true'],
    ['size', ['a\u{1f600}b'], '3'],
  ],
  conversions: [
    ['string_to_int64', ['-9223372036854775808'], '-9223372036854775808'],
    ['string_to_int64', ['9223372036854775808'], "type conversion error from 'string' to 'int'"],
    ['double_to_int64', [1e19], 'integer overflow'],
    ['double_to_string', [1e6], '1e+06'],
    ['string_to_double', ['0x1p-2'], '0.25'],
    ['bytes_to_string', [Buffer.from([0xff])], 'invalid UTF-8 in bytes, cannot convert to string'],
    ['duration_to_string', [new Duration(1_500_000_000n)], '1.5s'],
    ['string_to_bool', ['yes'], "type conversion error from 'string' to 'bool'"],
    [
      'timestamp_to_string',
      [call('string_to_timestamp', '2020-02-29T12:00:00.5+02:00')],
      '2020-02-29T12:00:00.5+02:00',
    ],
    ['int64_to_timestamp', [253_402_300_800n], 'timestamp overflow'],
  ],
  'times in zones': [
    [
      'timestamp_to_hours_with_tz',
      [call('string_to_timestamp', '2020-07-01T00:30:00Z'), 'America/New_York'],
      '20',
    ],
    ['timestamp_to_hours_with_tz', [call('int64_to_timestamp', 0n), '-08:30'], '15'],
    [
      'timestamp_to_hours_with_tz',
      [call('int64_to_timestamp', 0n), 'No/Where'],
      'unknown time zone No/Where',
    ],
    ['timestamp_to_day_of_year', [call('string_to_timestamp', '2021-12-31T00:00:00Z')], '364'],
  ],
  strings: [
    ['string_char_at_int', ['tacocat', 7n], ''],
    ['string_char_at_int', ['tacocat', 8n], 'index out of range: 8'],
    ['string_index_of_string', ['ta©o©αT', '©'], '2'],
    ['string_last_index_of_string_int', ['ta©o©αT', '©', 3n], '2'],
    ['string_substring_int_int', ['ta©o©αT', 2n, 6n], '©o©α'],
    ['string_substring_int_int', ['abc', 2n, 1n], 'invalid substring range. start: 2, end: 1'],
    ['string_replace_string_string_int', ['12 days 12 hours', '12', '1', 1n], '1 days 12 hours'],
    ['string_replace_string_string', ['ab', '', '-'], '-a-b-'],
    ['string_split_string_int', ['a,b,c', ',', 2n], '[a, b,c]'],
    ['string_trim', ['\u0085 a\ufeff '], 'a\ufeff'],
    ['strings_quote', ['a\n"'], '"a\\n\\""'],
    ['list_join_string', [list('a', 'b'), '-'], 'a-b'],
    ['string_find_all_string_int', ['123 abc 456', '[0-9]+', 1n], '[123]'],
    [
      'string_find_string',
      ['a', '('],
      'Illegal regex: error parsing regexp: missing closing ): `(`',
    ],
    ['matches', ['a', '['], 'error parsing regexp: missing closing ]: `[`'],
    ['string_format', ['%s %d %.1f', list('a', 1n, 2.25)], 'a 1 2.2'],
    ['string_format', ['%f', list(1234567.5)], '1,234,567.500000'],
    ['string_format', ['%e', list(1052.033)], '1.052033×10⁰³'],
    ['string_format', ['%.2e', list(1234.5)], '1.234500×10⁰³'],
    ['string_format', ['%.18e', list(1.5)], '     1.500000×10⁰⁰'],
    ['string_format', ['%e|%e', list(12345665, 12345675)], '1.234566×10⁰⁷|1.234568×10⁰⁷'],
    ['string_format', ['%e', list(Number.NaN)], '   NaN'],
    ['string_format', ['%.0f %.0f', list(2.5, 3.5)], '2 4'],
    ['string_format', ['%.89f', list(5e-90)], `0.${'0'.repeat(88)}1`],
    ['string_format', ['%s', list(list('a', 3.14, null))], '["a", 3.140000, null]'],
    [
      'string_format',
      ['%d', list('a')],
      'error during formatting: decimal clause can only be used on integers, was given string',
    ],
  ],
  lists: [
    ['list_int_is_sorted_bool', [list(1n, 2n, 2n)], 'true'],
    ['list_int_sum_int', [list(1n, 2n)], '3'],
    ['list_int_max_int', [list()], 'max called on empty list'],
    ['list_a_last_index_of_int', [list('a', 'b', 'a'), 'a'], '2'],
    ['list_slice', [list(1n, 2n, 3n), 1n, 4n], 'cannot slice(1, 4), list is length 3'],
    ['list_flatten_int', [list(1n, list(2n, list(3n))), 2n], '[1, 2, 3]'],
    ['list_string_sort', [list('b', 'a')], '[a, b]'],
    ['lists_range', [3n], '[0, 1, 2]'],
    ['list_distinct', [list(1n, 1, 'a', 'a')], '[1, a]'],
    ['list_sets_equivalent_list', [list(1n, 1n), list(1, new Uint(1n))], 'true'],
    ['list_last', [list(1n, 2n)], 'optional(2)'],
  ],
  optionals: [
    ['optional_value', [Optional.none], 'optional.none() dereference'],
    ['optional_ofNonZeroValue', [''], 'optional.none()'],
    ['optional_value', [new Optional(null)], 'NULL_VALUE'],
  ],
  urls: [
    ['url_get_host', [url('https://u:p@[::1]:80/a?b=c')], '[::1]:80'],
    ['url_get_hostname', [url('https://u:p@[::1]:80/a?b=c')], '::1'],
    ['url_get_port', [url('https://u:p@[::1]:80/a?b=c')], '80'],
    ['url_get_escaped_path', [url('https://a/with space/')], '/with%20space/'],
    ['url_get_query', [url('https://a/?k=1&k=%20')], '{k: [1,  ]}'],
    ['is_url_string', ['../relative'], 'false'],
    [
      'string_to_url',
      ['https://a:x/'],
      'URL parse error during conversion from string: parse "https://a:x/": invalid port ":x" after host',
    ],
  ],
  quantities: [
    ['quantity_is_greater_than', [quantity('1Gi'), quantity('1000Mi')], 'true'],
    ['quantity_get_int', [quantity('500m')], 'cannot convert value to integer'],
    ['quantity_get_int', [quantity('50k')], '50000'],
    ['quantity_get_float', [quantity('1.5')], '1.5'],
    ['quantity_sign', [quantity('-1')], '-1'],
    ['is_quantity_string', ['1K'], 'false'],
  ],
  addresses: [
    ['ip_is_canonical', ['2001:DB8::1'], 'false'],
    ['ip_family', [ip('::1')], '6'],
    ['ip_is_global_unicast', [ip('255.255.255.255')], 'false'],
    [
      'string_to_ip',
      ['::ffff:1.2.3.4'],
      'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed',
    ],
    [
      'string_to_ip',
      ['1.2.3'],
      'IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short',
    ],
    ['cidr_contains_ip_string', [cidr('192.168.0.0/24'), '192.168.0.7'], 'true'],
    ['cidr_contains_cidr_string', [cidr('192.168.0.0/16'), '192.168.10.0/24'], 'true'],
    ['cidr_to_string', [call('cidr_masked', cidr('192.168.0.1/24'))], '192.168.0.0/24'],
    ['is_cidr', ['10.0.0.0/08'], 'false'],
  ],
  formats: [
    ['format-validate', [call('format.dns1123Label'), 'ab'], 'optional.none()'],
    ['format-validate', [call('format.uuid'), 'x'], 'optional([does not match the UUID format])'],
    ['format-named', ['nothing'], 'optional.none()'],
  ],
  versions: [
    ['semver_compare_to', [semver('1.0.0-rc.1'), semver('1.0.0')], '-1'],
    ['semver_compare_to', [semver('1.0.0-alpha.2'), semver('1.0.0-alpha.10')], '-1'],
    ['is_semver_string_bool', ['v01.01', true], 'true'],
    ['string_to_semver', ['01.1.0'], 'Major number must not contain leading zeroes "01"'],
    ['string_to_semver', ['1.1'], 'No Major.Minor.Patch elements found'],
  ],
  'JSON pointers': [['string_jsonpatch_escapeKey_string', ['a/b~c'], 'a~1b~0c']],
}

for (const [library, cases] of Object.entries(rows))
  test(library, () => {
    for (const [id, args, expected] of cases)
      assert.equal(text(call(id, ...args)), expected, `${id}(${args.map(text).join(', ')})`)
  })
