/**
 * Comprehensions, which is what macros become: `l.all(x, p)` starts with `true` and continues with
 * `@result && p`. The accumulator begins when it is first read: in `x.optMap(v, 1)` nothing reads
 * `v`, so that `x` is not read either.
 */
import { emptyList, GrowingList, MapBuilder } from './collections.ts'
import type { Frame, Step } from './frame.ts'
import { CelError, isError, ListValue, MapValue, typeName, type Value } from './values.ts'

export interface Fold {
  readonly range: Step
  readonly condition: Step
  readonly step: Step
  readonly result: Step
  readonly accuSlot: number
  readonly firstSlot: number
  /** Set for macros with two variables. */
  readonly secondSlot: number | undefined
}

/** The beginning of an accumulator: an empty list or map becomes one that grows in place. */
export const growing =
  (init: Step): Step =>
  (frame) => {
    const value = init(frame)
    if (value instanceof ListValue && value.size === 0) return new GrowingList()
    if (value instanceof MapValue && value.size === 0) return new MapBuilder()
    return value
  }

/** The value that others may see: it no longer grows. */
function settled(value: Value): Value {
  if (value instanceof GrowingList) return value.size === 0 ? emptyList : value.toList()
  return value instanceof MapBuilder ? value.toMap() : value
}

/** The names that cel-go gives types of Go in its message. */
const goTypes = new Map([
  ['int', 'types.Int'],
  ['uint', 'types.Uint'],
  ['double', 'types.Double'],
  ['bool', 'types.Bool'],
  ['string', 'types.String'],
  ['bytes', 'types.Bytes'],
  ['null_type', 'types.Null'],
  ['google.protobuf.Duration', 'types.Duration'],
  ['google.protobuf.Timestamp', 'types.Timestamp'],
  ['type', '*types.Type'],
  ['optional_type', '*types.Optional'],
])

export function planFold(fold: Fold): Step {
  const { range, result, accuSlot, secondSlot } = fold
  return (frame) => {
    const over = range(frame)
    if (isError(over)) return over
    frame.slots[accuSlot] = undefined
    if (over instanceof ListValue) runList(fold, frame, over)
    else if (over instanceof MapValue) runMap(fold, frame, over)
    else {
      const type = goTypes.get(typeName(over)) ?? typeName(over)
      return secondSlot === undefined
        ? new CelError(`got '${type}', expected iterable type`)
        : new CelError(`unsupported comprehension range type: ${type}`)
    }
    return settled(result(frame))
  }
}

function runList(fold: Fold, frame: Frame, list: ListValue): void {
  const { firstSlot, secondSlot } = fold
  const { size } = list
  for (let index = 0; index < size; index += 1) {
    if (secondSlot === undefined) frame.slots[firstSlot] = list.at(index)
    else {
      frame.slots[firstSlot] = BigInt(index)
      frame.slots[secondSlot] = list.at(index)
    }
    if (!advance(fold, frame)) return
  }
}

function runMap(fold: Fold, frame: Frame, map: MapValue): void {
  const { firstSlot, secondSlot } = fold
  for (const key of map.keys()) {
    frame.slots[firstSlot] = key
    if (secondSlot !== undefined) frame.slots[secondSlot] = map.find(key) as Value
    if (!advance(fold, frame)) return
  }
}

/**
 * One step; false when the condition ends the loop. A condition that is an error does not end it.
 */
function advance({ condition, step, accuSlot }: Fold, frame: Frame): boolean {
  if (condition(frame) === false) return false
  frame.slots[accuSlot] = step(frame)
  return true
}
