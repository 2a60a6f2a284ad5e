import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from './field-path.ts'
import {
  configMapKey,
  dns1123Label,
  dns1123Subdomain,
  domainPrefixedPath,
  envVarName,
  fullyQualifiedDomainName,
  fullyQualifiedName,
  groupId,
  ipAddress,
  labelValue,
  nameIsDnsLabel,
  nameIsPathSegment,
  pathSegmentName,
  portName,
  portNumber,
  qualifiedName,
  userId,
} from './names.ts'

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const part =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

const cases: [string, (value: string) => string[], string, string[]][] = [
  ['label', dns1123Label, 'a-1', []],
  ['label', dns1123Label, 'A', [label]],
  ['label', dns1123Label, 'a'.repeat(64), ['must be no more than 63 characters']],
  ['subdomain', dns1123Subdomain, 'a..b', [subdomain]],
  ['label value', labelValue, '', []],
  ['qualified name', qualifiedName, 'example.com/Name', []],
  ['qualified name', qualifiedName, '', ['name part must be non-empty', `name part ${part}`]],
  ['qualified name', qualifiedName, '/a', ['prefix part must be non-empty']],
  ['qualified name', qualifiedName, 'A/b', [`prefix part ${subdomain}`]],
  [
    'qualified name',
    qualifiedName,
    'a/b/c',
    [
      `a valid label key ${part} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ],
  ['port name', portName, 'http', []],
  ['port name', portName, '80', ['must contain at least one letter (a-z)']],
  ['environment variable', envVarName, '..a', ["must not start with '..'"]],
  ['config key', configMapKey, '.', ["must not be '.'"]],
  ['subdomain', dns1123Subdomain, 'a'.repeat(253), []],
  ['subdomain', dns1123Subdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
  ['subdomain', dns1123Subdomain, `${'a'.repeat(64)}.b`, []],
  ...['', '.', '-a', 'a-', 'a.-b', 'A', 'a_b', 'a b', 'a\n', 'ü', 'a/b'].map(
    (value): (typeof cases)[number] => ['subdomain', dns1123Subdomain, value, [subdomain]],
  ),
  ...['a', '1', 'a.b', 'a-b.c', '1.2'].map((value): (typeof cases)[number] => [
    'subdomain',
    dns1123Subdomain,
    value,
    [],
  ]),
  ...['a', 'A1', 'a_b.c-d', 'a'.repeat(63)].map((value): (typeof cases)[number] => [
    'label value',
    labelValue,
    value,
    [],
  ]),
  ['label value', labelValue, 'a'.repeat(64), ['must be no more than 63 bytes']],
  ['qualified name', qualifiedName, `${'a'.repeat(253)}/${'b'.repeat(63)}`, []],
  [
    'qualified name',
    qualifiedName,
    `${'a'.repeat(254)}/b`,
    ['prefix part must be no more than 253 characters'],
  ],
  ['qualified name', qualifiedName, 'b'.repeat(64), ['name part must be no more than 63 bytes']],
  ['qualified name', qualifiedName, 'a/', ['name part must be non-empty', `name part ${part}`]],
  ['port name', portName, 'a'.repeat(15), []],
  ['port name', portName, 'a'.repeat(16), ['must be no more than 15 characters']],
  [
    'port name',
    portName,
    'A_',
    [
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'must contain at least one letter (a-z)',
    ],
  ],
  ['port name', portName, 'a--b', ['must not contain consecutive hyphens']],
  ['port name', portName, '-a', ['must not begin or end with a hyphen']],
  ['port name', portName, 'a-', ['must not begin or end with a hyphen']],
  ['environment variable', envVarName, '..', ["must not be '..'"]],
  ['environment variable', envVarName, '.a', []],
  ['config key', configMapKey, '..', ["must not be '..'"]],
  ['config key', configMapKey, '...', ["must not start with '..'"]],
  ['config key', configMapKey, 'a..', []],
  ['path segment', pathSegmentName, '.', ["may not be '.'"]],
  ['path segment', pathSegmentName, '...', []],
  ['address', ipAddress, '10.0.0.1', []],
  [
    'address',
    ipAddress,
    '10.0.0',
    ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
]
for (const [what, check, value, expected] of cases) {
  test(`${what} ${JSON.stringify(value.slice(0, 20))}`, () =>
    assert.deepEqual(check(value), expected))
}

test('lengths count bytes', () => {
  assert.ok(labelValue('é'.repeat(32)).includes('must be no more than 63 bytes'))
})

test('ports', () => {
  assert.deepEqual(portNumber(65535), [])
  assert.deepEqual(portNumber(1), [])
  assert.deepEqual(portNumber(0), ['must be between 1 and 65535, inclusive'])
  assert.deepEqual(portNumber(65536), ['must be between 1 and 65535, inclusive'])
})

test('users and groups', () => {
  for (const check of [userId, groupId]) {
    assert.deepEqual([check(0), check(2147483647)], [[], []])
    for (const id of [-1, 2147483648])
      assert.deepEqual(check(id), ['must be between 0 and 2147483647, inclusive'])
  }
})

test('a prefix may end in a dash', () => {
  assert.deepEqual(nameIsDnsLabel('a-', true), [])
  assert.deepEqual(nameIsDnsLabel('a-', false), [label])
  assert.deepEqual(nameIsDnsLabel('-', true), [label])
  assert.deepEqual(nameIsDnsLabel('a', true), [])
  assert.deepEqual(nameIsDnsLabel('a_', true), [label])
  assert.deepEqual(nameIsPathSegment('..', true), [])
  assert.deepEqual(nameIsPathSegment('..', false), ["may not be '..'"])
  assert.deepEqual(nameIsPathSegment('a/b%', false), ["may not contain '/'", "may not contain '%'"])
})

test('domains', () => {
  const path = FieldPath.of('spec', 'x')
  const stated = (errors: { message: string }[]) => errors.map(({ message }) => message)
  const short = 'should be a domain with at least three segments separated by dots'
  assert.deepEqual(stated(fullyQualifiedName('a.b.c', path)), [])
  assert.deepEqual(stated(fullyQualifiedName('a.b', path)), [`Invalid value: "a.b": ${short}`])
  assert.deepEqual(stated(fullyQualifiedName('', path)), ['Required value'])
  assert.deepEqual(stated(fullyQualifiedName('A.b.c', path)), [
    `Invalid value: "A.b.c": ${subdomain}`,
  ])
  assert.deepEqual(stated(fullyQualifiedDomainName('', path)), ['Required value'])
  assert.deepEqual(stated(fullyQualifiedDomainName('a..', path)), [
    `Invalid value: "a.": ${subdomain}`,
  ])
  assert.deepEqual(stated(fullyQualifiedDomainName(`${'a'.repeat(64)}.b`, path)), [
    `Invalid value: "${'a'.repeat(64)}": must be no more than 63 characters`,
  ])
  const prefixed = 'must be a domain-prefixed path (such as "acme.io/foo")'
  assert.deepEqual(stated(domainPrefixedPath('', path)), ['Required value'])
  for (const text of ['/foo', 'acme.io/'])
    assert.deepEqual(stated(domainPrefixedPath(text, path)), [
      `Invalid value: "${text}": ${prefixed}`,
    ])
  assert.deepEqual(stated(domainPrefixedPath('a/b', path)), [])
  assert.deepEqual(stated(domainPrefixedPath('A/foo bar', path)), [
    `Invalid value: "A": ${subdomain}`,
    `Invalid value: "foo bar": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
  ])
  assert.deepEqual(fullyQualifiedDomainName('a.b.', path), [])
  assert.equal(
    fullyQualifiedDomainName('a', path)[0]?.message,
    'Invalid value: "a": should be a domain with at least two segments separated by dots',
  )
  assert.deepEqual(domainPrefixedPath('acme.io/foo', path), [])
  assert.equal(
    domainPrefixedPath('acme.io', path)[0]?.message,
    'Invalid value: "acme.io": must be a domain-prefixed path (such as "acme.io/foo")',
  )
})
