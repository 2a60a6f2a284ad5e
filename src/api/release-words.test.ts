import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldPath } from './field-path.ts'
import { invalid, tooLong } from './field-error.ts'
import { goList, goQuote, goStringMap, goStruct } from './go-syntax.ts'
import { dns1123Label, ipAddress, portName } from './names.ts'
import { LabelSelectorError } from './label-requirement.ts'
import { parseLabelSelector } from './label-selector.ts'
import { inWordsOf, noDeleteOptions, unregisteredKind, wordsOf } from './release-words.ts'

test('older releases have other messages', () => {
  const [problem] = dns1123Label('A')
  const errors = [invalid(FieldPath.of('x'), 'A', problem as string)]
  assert.deepEqual(inWordsOf(errors, 22), errors)
  assert.match(inWordsOf(errors, 20)[0]?.message ?? '', /"A": a lowercase RFC 1123 label must/)
  assert.match(inWordsOf(errors, 19)[0]?.message ?? '', /"A": a DNS-1123 label must/)
})

test('the oldest releases have addresses of one family and lengths in characters', () => {
  const errors = [
    invalid(FieldPath.of('x'), 'B', ipAddress('B')[0] as string),
    tooLong(FieldPath.of('y'), 'C', 3),
  ]
  const [address, length] = inWordsOf(errors, 15)
  assert.match(address?.message ?? '', /\(e\.g\. 10\.9\.8\.7\)$/)
  assert.equal(length?.message, 'Too long: must have at most 3 characters')
  assert.equal(inWordsOf(errors, 19)[1]?.message, 'Too long: must have at most 3 bytes')
  assert.equal(inWordsOf(errors, 31)[1]?.message, 'Too long: must have at most 3 bytes')
  assert.equal(inWordsOf(errors, 32)[1]?.message, 'Too long: may not be more than 3 bytes')
})

test('errors about ports and quota scopes', () => {
  const port = [invalid(FieldPath.of('x'), '', portName('1')[0] as string)]
  assert.match(inWordsOf(port, 24)[0]?.message ?? '', /letter or number/)
  assert.match(inWordsOf(port, 25)[0]?.message ?? '', /letter \(a-z\)/)
  const scopes =
    'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'
  const scope = [invalid(FieldPath.of('x'), '', `must be 'Exists' when scope is any of ${scopes}`)]
  assert.match(inWordsOf(scope, 30)[0]?.message ?? '', /'Exist' /)
  assert.match(inWordsOf(scope, 31)[0]?.message ?? '', /'Exists' /)
})

test('structured values are JSON since 1.34', () => {
  const rows: [value: unknown, go: string, json: string][] = [
    [undefined, '"null"', 'null'],
    ['<a>', '"<a>"', '"<a>"'],
    [true, 'true', 'true'],
    [['<a>', 1], '[]interface {}{"<a>", 1}', '["\\u003ca\\u003e",1]'],
    [goStringMap({ b: 'x', a: 'é' }), 'map[string]string{"a":"é", "b":"x"}', '{"a":"é","b":"x"}'],
    [goStringMap(undefined), 'map[string]string(nil)', 'null'],
    [
      goStruct('rbac.RoleRef', [
        ['Kind', goQuote('a\x07')],
        ['Ports', goList('int', ['1'])],
      ]),
      'rbac.RoleRef{Kind:"a\\a", Ports:[]int{1}}',
      '{"Kind":"a\\u0007","Ports":[1]}',
    ],
  ]
  for (const [value, go, json] of rows) {
    const shownIn = (release: number) => inWordsOf([invalid('x', value, 'no')], release)[0]?.message
    assert.equal(shownIn(33), `Invalid value: ${go}: no`)
    assert.equal(shownIn(34), `Invalid value: ${json}: no`)
  }
})

test('an error without a field says so, or has no field', () => {
  const errors = [invalid(FieldPath.none, '', 'must validate'), invalid('x', '', 'must validate')]
  const fields = (release: number) => inWordsOf(errors, release).map(({ field }) => field)
  assert.deepEqual(fields(19), ['', 'x'])
  assert.deepEqual(fields(20), ['<nil>', 'x'])
})

test('the source line in scheme errors changed once', () => {
  const words = (release: number) => unregisteredKind('Pod', 'version "v1"', release)
  for (const [release, line] of [
    [19, 101],
    [20, 100],
    [32, 100],
    [33, 110],
    [34, 110],
    [35, 111],
  ] as const)
    assert.equal(
      words(release),
      `no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:${line}"`,
    )
})

test('errors name the ranges of both families since dual-stack', () => {
  const errors = [invalid('x', '::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)')]
  assert.match(inWordsOf(errors, 21)[0]?.message ?? '', /range \(127\.0\.0\.0\/8\)$/)
})

test('selectors are rejected with the messages of the release', () => {
  const rows: [string, number, string][] = [
    ['a b', 22, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a b', 21, "unable to parse requirement: found 'b', expected: '=', '!=', '==', 'in', notin'"],
    ['_=x', 20, 'unable to parse requirement: invalid label key "_": name part must'],
    ['a=_', 20, 'unable to parse requirement: invalid label value: "_": at key: "a": a valid'],
    [
      'a in (_, -)',
      20,
      'unable to parse requirement: invalid label value: "-": at key: "a": a valid',
    ],
    [
      'a>1.5',
      20,
      "unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ]
  for (const [text, release, words] of rows) {
    const inWords = (error: Error) =>
      error instanceof LabelSelectorError && error.inWords(wordsOf(release)).startsWith(words)
    assert.throws(() => parseLabelSelector(text), inWords, `${text} in ${release}`)
  }
})

test('older releases try to convert any type to options, field by field', () => {
  const cases: [goType: string, release: number, why: string][] = [
    ['v1.Pod', 18, 'GracePeriodSeconds not present in src'],
    ['v1.WatchEvent', 18, 'TypeMeta not present in src'],
    ['v1.Pod', 19, 'unknown conversion'],
  ]
  for (const [goType, release, why] of cases) {
    const words = `converting (${goType}) to (v1.DeleteOptions): ${why}`
    assert.equal(noDeleteOptions(goType, release), words)
  }
})
