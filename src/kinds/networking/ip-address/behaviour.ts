/** IPAddress: an address that a service, or another object, holds. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { dns1123Subdomain, type NameRule, pathSegmentName } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { each, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkAddress } from '#kinds/all-kinds/strict-addresses.ts'
import type { Behaviour } from '#kinds/kind.ts'

const path = FieldPath.of('spec', 'parentRef')

/** The error of an invalid address, without the value, because the name error shows it. */
const nameIsAddress: NameRule = (name) =>
  checkAddress(name, '').map(({ message }) => message.replace(/^Invalid value: "[^"]*": /, ''))

function check(object: KubeObject): FieldError[] {
  const parent: Loose | undefined = object.spec?.parentRef
  if (parent === undefined) return [required(path)]
  const segment = (field: string, isRequired: boolean): FieldError[] => {
    const value: string = parent[field] ?? ''
    if (value === '') return isRequired ? [required(path.child(field))] : []
    return each(path.child(field), value, pathSegmentName(value))
  }
  const group: string = parent.group ?? ''
  return [
    ...(group === '' ? [] : each(path.child('group'), group, dns1123Subdomain(group))),
    ...segment('resource', true),
    ...segment('name', true),
    ...segment('namespace', false),
  ]
}

export const ipAddressBehaviour: Behaviour = {
  nameRule: nameIsAddress,
  validateCreate: check,
  validateUpdate(next, old) {
    const errors = [
      ...checkMetadata(next, false, nameIsAddress),
      ...check(next),
      ...checkMetadataUpdate(next, old),
    ]
    const parent = next.spec?.parentRef
    if (sameJson(parent, old.spec?.parentRef)) return errors
    return [...errors, { ...invalid(path, parent, immutableMessage), origin: 'immutable' }]
  },
}
