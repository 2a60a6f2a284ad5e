/**
 * Quantities and resource lists as Go's `%#v` prints them in messages: with their internals, which
 * show how they were written.
 *
 *   "1.5"    {i: {value:15, scale:-1}, s:""}
 *   "1500m"  {i: {value:1500, scale:-3}, s:"1500m"}
 */
import { asGo, goJson, goMap, goPointer, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import { formatQuantity, parseQuantity, type Quantity } from '#api/quantity.ts'
import { textWritten } from '#api/written-text.ts'

/** The format of a computed quantity is unknown. */
type Shown = Omit<Quantity, 'format'> & { readonly format: Quantity['format'] | '' }

type Amounts = Readonly<Record<string, string>>

/** A member of a resource list, or the quantity in a field. */
export const goQuantity = (holder: Amounts, name: string): GoText =>
  show(quantityAt(holder, name), false)

/** A quantity that Go has formatted before: Go caches its text. */
export const goQuantityPrinted = (holder: Amounts, name: string): GoText =>
  show(quantityAt(holder, name), true)

export const goResourceList = (list: Amounts | null | undefined): GoText =>
  goMap('core.ResourceList', list, (_, name) => goQuantity(list as Amounts, name))

/**
 * Rounding to thousandths, which is a default, forgets the text, but not how long a number may be.
 */
function quantityAt(holder: Amounts, name: string): Shown {
  const now = holder[name] as string
  const written = textWritten(holder, name)
  if (written === undefined) return parseQuantity(now)
  if (written === '') return { ...parseQuantity(now), format: '', text: '' }
  const first = parseQuantity(written)
  if (formatQuantity(first) === now) return first
  const { text: _, ...rounded } = parseQuantity(now)
  return { ...rounded, format: first.format, ...(first.long && { long: true }) }
}

function show(quantity: Shown, printed: boolean): GoText {
  const { unscaled, scale, format, long, text = '' } = quantity
  const short = long ? { value: 0n, scale: 0 } : { value: unscaled, scale }
  const inGo = goStruct('resource.Quantity', [
    ['i', `resource.int64Amount{value:${short.value}, scale:${short.scale}}`],
    ['d', `resource.infDecAmount{Dec:${goPointer('inf.Dec', long)}}`],
    ['s', goQuote(printed ? formatQuantity({ ...quantity, text: undefined } as Quantity) : text)],
    ['Format', goQuote(format)],
  ])
  return asGo(inGo, goJson(formatQuantity(quantity as Quantity)))
}
