/**
 * The protobuf name of a type that CEL treats as its own; a message with this name has the fields
 * of protobuf's.
 */
import type { CelKind, CelType } from '#cel/cel-type.ts'

const names: Partial<Record<CelKind, string>> = {
  any: 'google.protobuf.Any',
  bool: 'google.protobuf.BoolValue',
  bytes: 'google.protobuf.BytesValue',
  double: 'google.protobuf.DoubleValue',
  duration: 'google.protobuf.Duration',
  dyn: 'google.protobuf.Value',
  int: 'google.protobuf.Int64Value',
  list: 'google.protobuf.ListValue',
  map: 'google.protobuf.Struct',
  null: 'google.protobuf.NullValue',
  string: 'google.protobuf.StringValue',
  timestamp: 'google.protobuf.Timestamp',
  uint: 'google.protobuf.UInt64Value',
}

const always = new Set<CelKind>(['any', 'timestamp', 'duration', 'dyn', 'null'])

/** Undefined for types that no protobuf message stands for. */
export function wellKnownName(type: CelType): string | undefined {
  const [first, second] = type.parameters
  const isWellKnown =
    always.has(type.kind) ||
    type.nullable ||
    (type.kind === 'list' && first?.kind === 'dyn') ||
    (type.kind === 'map' && first?.kind === 'string' && second?.kind === 'dyn')
  return isWellKnown ? names[type.kind] : undefined
}
