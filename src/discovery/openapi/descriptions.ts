export function describeKind(_kind: string, _isKind: boolean): string | undefined {
  return undefined
}
export function describeField(_kind: string, _field: string, _isKind: boolean): string | undefined {
  return undefined
}
