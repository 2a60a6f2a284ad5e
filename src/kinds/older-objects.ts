/**
 * Objects of an older form, read as kube-apiserver reads everything that it stored: by the type of
 * the version they are in, and with its defaults. Loaded with the first object that comes from a
 * store; what this process writes never gets here.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { equalValues } from '#patch/json-map.ts'
import type { DefaultsContext } from './all-kinds/defaulter.ts'
import type { Resource } from './kind.ts'
import { olderForms } from './older-forms.ts'
import { fillAddresses } from './older-services.ts'

export interface ReadingOptions extends DefaultsContext {
  /** Families of the addresses that services get, the preferred one first. */
  readonly serviceFamilies?: readonly string[]
}

/** Undefined: the object is as it would be written now. */
export type ReadOlder = (object: KubeObject) => KubeObject | undefined

export function olderReader(
  { group, plural, kindOf }: Pick<Resource, 'group' | 'plural' | 'kindOf'>,
  options: ReadingOptions,
): ReadOlder {
  const isOlder = olderForms(`${group}/${plural}`, options)
  if (isOlder === undefined) return () => undefined
  const { serviceFamilies = ['IPv4'] } = options
  return (object) => {
    const kind = isOlder(object) ? kindOf(object.apiVersion as string) : undefined
    if (kind === undefined) return undefined
    const { object: read } = kind.conform(object)
    kind.applyDefaults(read)
    if (plural === 'services') fillAddresses(read, serviceFamilies, options)
    return equalValues(read, object) ? undefined : read
  }
}
