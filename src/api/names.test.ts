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
  labelValue,
  nameIsDnsLabel,
  nameIsPathSegment,
  portName,
  portNumber,
  qualifiedName,
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
      `a qualified name ${part} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ],
  ['port name', portName, 'http', []],
  ['port name', portName, '80', ['must contain at least one letter or number (a-z, 0-9)']],
  ['environment variable', envVarName, '..a', ["must not start with '..'"]],
  ['config key', configMapKey, '.', ["must not be '.'"]],
]
for (const [what, check, value, expected] of cases) {
  test(`${what} ${JSON.stringify(value.slice(0, 20))}`, () =>
    assert.deepEqual(check(value), expected))
}

test('lengths count bytes', () => {
  assert.ok(labelValue('é'.repeat(32)).includes('must be no more than 63 characters'))
})

test('ports', () => {
  assert.deepEqual(portNumber(65535), [])
  assert.deepEqual(portNumber(0), ['must be between 1 and 65535, inclusive'])
})

test('a prefix may end in a dash', () => {
  assert.deepEqual(nameIsDnsLabel('a-', true), [])
  assert.deepEqual(nameIsDnsLabel('a-', false), [label])
  assert.deepEqual(nameIsPathSegment('..', true), [])
  assert.deepEqual(nameIsPathSegment('..', false), ["may not be '..'"])
  assert.deepEqual(nameIsPathSegment('a/b%', false), ["may not contain '/'", "may not contain '%'"])
})

test('domains', () => {
  const path = FieldPath.of('spec', 'x')
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
