/**
 * The user of a request. Values are opaque to authentication and meaningful only to an authorizer.
 */
export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The group of all authenticated users; every authentication except the anonymous one adds it. */
export const allAuthenticated = 'system:authenticated'
export const allUnauthenticated = 'system:unauthenticated'
/** The group whose members may do anything, whatever the authorization mode. */
export const privilegedGroup = 'system:masters'

export const anonymous: User = {
  name: 'system:anonymous',
  uid: '',
  groups: [allUnauthenticated],
  extra: {},
}

export const isPrivileged = (user: User): boolean => user.groups.includes(privilegedGroup)
