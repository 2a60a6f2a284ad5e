/** ServiceCIDR: blocks from which services get their addresses, one for each IP family. */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { parseCidr } from '#api/ip-address.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { listAsWritten } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkCidr } from '#kinds/all-kinds/strict-addresses.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const path = FieldPath.of('spec', 'cidrs')
/** At most one block for each IP family. */
const cidrsMax = 2

const cidrsOf = (object: KubeObject): string[] => object.spec?.cidrs ?? []
const familyOf = (text: string): number | undefined => parseCidr(text)?.bits

function check(object: KubeObject): FieldError[] {
  const cidrs = cidrsOf(object)
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')]
  if (cidrs.length > cidrsMax) {
    return [invalid(path, { CIDRs: cidrs }, 'may only hold up to 2 values')]
  }
  const errors = cidrs.flatMap((cidr, i) => checkCidr(cidr, path.index(i)))
  const [first, second] = cidrs.map(familyOf)
  if (cidrs.length === 2 && first === second && first !== undefined) {
    const detail =
      'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    errors.push(invalid(path, cidrs, detail))
  }
  return errors
}

function checkChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [cidrsOf(next), cidrsOf(old)]
  const changedAt = (i: number) =>
    now[i] === before[i] ? [] : [invalid(path.index(i), now[i], immutableMessage)]
  if (now.length === before.length) return before.flatMap((_, i) => changedAt(i))
  // A second block converts a single-stack service CIDR to dual-stack.
  if (before.length === 1 && now.length === 2) return [...changedAt(0), ...check(next)]
  return [invalid(path, listAsWritten(next.spec, 'cidrs'), immutableMessage)]
}

/** Up to 1.35 a client can write the status with the spec. */
const keepsStatus = ({ feature }: Context): boolean => feature('ServiceCIDRStatusFieldWiping')

export const serviceCidrBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    if (keepsStatus(context)) object.status = {}
  },
  prepareForUpdate(next, old, context) {
    if (keepsStatus(context)) keepStatus(next, old)
  },
  validateCreate: check,
  validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...checkChange(next, old)],
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: checkMetadataUpdate,
    },
  },
}
