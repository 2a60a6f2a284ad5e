/** Values that are a number or a share of one: `2`, `30%`. Pure. */

export function scaledValue(
  value: number | string,
  total: number,
  round: 'up' | 'down' = 'up',
): number {
  if (typeof value === 'number') return value
  const [, digits] = /^(\d+)%$/.exec(value) ?? []
  if (digits === undefined) {
    throw new Error('invalid value for IntOrString: invalid type: string is not a percentage')
  }
  const share = (Number(digits) * total) / 100
  return round === 'up' ? Math.ceil(share) : Math.floor(share)
}
