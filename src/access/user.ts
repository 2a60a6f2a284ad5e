/** Who asks. Values are opaque to authentication and meaningful only to an authorizer. */
export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }
