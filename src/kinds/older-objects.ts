/**
 * Converts stored objects that another release wrote, when a store reads them: to the type of their
 * version in this release, with its current defaults. It loads only when the first stored object is
 * read.
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

/** Returns undefined if this release would store the object as it is. */
export type UpgradeStored = (object: KubeObject) => KubeObject | undefined

export function storedUpgrader(
  { group, plural, kindOf }: Pick<Resource, 'group' | 'plural' | 'kindOf'>,
  options: ReadingOptions,
): UpgradeStored {
  const isOlder = olderForms(`${group}/${plural}`, options)
  if (isOlder === undefined) return () => undefined
  const { serviceFamilies = ['IPv4'] } = options
  return (object) => {
    const kind = isOlder(object) ? kindOf(object.apiVersion as string) : undefined
    if (kind === undefined) return undefined
    const { object: current } = kind.conform(object)
    kind.applyDefaults(current)
    if (plural === 'services') fillAddresses(current, serviceFamilies, options)
    return equalValues(current, object) ? undefined : current
  }
}
