/**
 * The cases of CEL's tests whose outcome is another one here, with the reason. At most one in
 * fifty.
 */

const exceptions: readonly (readonly [reason: string, ...cases: string[]])[] = [
  [
    'bytes of an unknown field of a message are not compared: Kubernetes declares no messages',
    'conformance/comparisons/eq_wrapper/eq_proto2_any_unpack_bytewise_fallback_not_equal',
    'conformance/comparisons/eq_wrapper/eq_proto3_any_unpack_bytewise_fallback_not_equal',
    'conformance/comparisons/ne_literal/ne_proto2_any_unpack_bytewise_fallback',
    'conformance/comparisons/ne_literal/ne_proto3_any_unpack_bytewise_fallback',
  ],
  [
    'enums of protobuf are ints, as in cel-go',
    'conformance/enums/strong_proto2/type_global',
    'conformance/enums/strong_proto2/type_nested',
    'conformance/enums/strong_proto2/field_type',
    'conformance/enums/strong_proto3/type_global',
    'conformance/enums/strong_proto3/type_nested',
    'conformance/enums/strong_proto3/field_type',
  ],
  [
    'Kubernetes checks every expression, so a qualified name is never resolved without a check',
    'conformance/fields/qualified_identifier_resolution/qualified_identifier_resolution_unchecked',
    'conformance/proto2/has/undefined',
    'conformance/proto3/has/undefined',
  ],
  [
    'cel-go accepts such keys: the last entry with a key wins',
    'conformance/fields/qualified_identifier_resolution/map_key_float',
    'conformance/fields/qualified_identifier_resolution/map_value_repeat_key',
    'conformance/fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous',
  ],
  [
    'kube-apiserver leaves EnableErrorOnBadPresenceTest off: a scalar has no fields, which is no error',
    'conformance/optionals/optionals/map_null_entry_no_such_key',
    'conformance/optionals/optionals/map_present_key_invalid_field',
  ],
  [
    'kube-apiserver makes no program of a constant key that no map can have',
    'conformance/fields/map_fields/map_bad_key_type_or_true',
    'conformance/fields/map_fields/map_bad_key_type_and_false',
  ],
  [
    'kube-apiserver has version 2 of the library of strings, which formats in the older way',
    'conformance/string_ext/format/NaN support for scientific notation',
    'conformance/string_ext/format/scientific notation formatting clause',
    'conformance/string_ext/format/default precision for scientific notation',
    'conformance/string_ext/format/positive infinity support for scientific notation',
    'conformance/string_ext/format/negative infinity support for scientific notation',
    'conformance/string_ext/format/NaN support for decimal',
    'conformance/string_ext/format/positive infinity support for decimal',
    'conformance/string_ext/format/negative infinity support for decimal',
    'conformance/string_ext/format/positive infinity support for fixed-point',
    'conformance/string_ext/format/negative infinity support for fixed-point',
    'conformance/string_ext/format/list support for string',
    'conformance/string_ext/format/map support for string',
    'conformance/string_ext/format/map support (all key types)',
    'conformance/string_ext/format/dyntype support for scientific notation',
    'conformance/string_ext/format/dyntype NaN/infinity support',
    'conformance/string_ext/format/dyntype support for lists',
    'conformance/string_ext/format/dyntype support for maps',
    'conformance/string_ext/format/scientific notation formatting clause in a string variable',
  ],
  [
    'version 2 of the library of strings finds nothing beyond the end instead of failing',
    'conformance/string_ext/value_errors/indexof_out_of_range',
    'conformance/string_ext/value_errors/lastindexof_out_of_range',
  ],
  [
    'version 2 of the library of strings has no reverse()',
    "comprehensions/{'hello': 'world', 'greetings': 'tacocat'}.transformMapEntry(k, v, {k.reverse(): v.reverse()}) == {'olleh': 'dlrow', 'sgniteerg': 'tacocat'}",
    "comprehensions/{'hello': 'world', 'greetings': 'tacocat'}.transformMapEntry(k, v, v.reverse() == v, {k.reverse(): v.reverse()}) == {'sgniteerg': 'tacocat'}",
  ],
  [
    'getMilliseconds() of a duration is the whole duration in cel-go',
    'conformance/timestamps/duration_converters/get_milliseconds',
  ],
  [
    'cel-go gives such a list the type of its other elements',
    'conformance/type_deductions/wrappers/wrapper_promotion_2',
    'conformance/type_deductions/legacy_nullable_types/null_assignable_to_message_parameter_candidate',
    'conformance/type_deductions/legacy_nullable_types/null_assignable_to_duration_parameter_candidate',
    'conformance/type_deductions/legacy_nullable_types/null_assignable_to_timestamp_parameter_candidate',
    'conformance/type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate',
  ],
  [
    'this case compares numbers of several types, which the data does not say',
    'checking/lists.filter(x, x > 1.5)',
  ],
  [
    'the data lacks a field of this message of cel-go',
    'checking/type(testAllTypes.nestedgroup.nested_id) == int',
  ],
  [
    'cel-go looks only for types since the version of 1.37, not for variables',
    'checking/NotAMessage{}',
  ],
]

export const exceptionNames: ReadonlySet<string> = new Set(
  exceptions.flatMap(([, ...cases]) => cases),
)
