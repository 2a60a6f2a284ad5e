/** Quantities and resource lists as Go's `%#v` prints them in messages. */
import { goMap, goQuote, goStruct } from '#api/go-syntax.ts'
import { parseQuantity } from '#api/quantity.ts'

export function goQuantity(text: string): string {
  const { unscaled, scale, format } = parseQuantity(text)
  return goStruct('resource.Quantity', [
    ['i', `resource.int64Amount{value:${unscaled}, scale:${scale}}`],
    ['d', 'resource.infDecAmount{Dec:(*inf.Dec)(nil)}'],
    ['s', goQuote(text)],
    ['Format', goQuote(format)],
  ])
}

export const goResourceList = (list: Readonly<Record<string, string>> | null | undefined): string =>
  goMap('core.ResourceList', list, goQuantity)
