/** DeviceTaintRule: a taint for all devices that match a selector. */
import type { FieldError } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { releaseOf } from '#api/releases/change.ts'
import { checkDns1123Label } from '#kinds/all-kinds/checks.ts'
import { checkConditions } from '#kinds/all-kinds/conditions.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import {
  keepObjectMetaForStatus,
  keepSpec,
  keepStatus,
  raiseGeneration,
} from '#kinds/all-kinds/strategy.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkDriverName, checkPoolName } from '#kinds/resource/device-names.ts'
import { checkTaint } from '#kinds/resource/device-taint.ts'

const path = FieldPath.of('spec')
const conditionsPath = FieldPath.of('status', 'conditions')

function check(object: KubeObject, old?: KubeObject): FieldError[] {
  const { deviceSelector, taint = {} } = object.spec ?? {}
  return [
    ...(deviceSelector ? checkSelector(deviceSelector, path.child('deviceSelector')) : []),
    ...checkTaint(taint, path.child('taint'), old && (old.spec?.taint ?? {})),
  ]
}

function checkSelector({ driver, pool, device }: Loose, at: FieldPath): FieldError[] {
  return [
    ...(driver === undefined ? [] : checkDriverName(driver, at.child('driver'))),
    ...(pool === undefined ? [] : checkPoolName(pool, at.child('pool'))),
    ...(device === undefined ? [] : checkDns1123Label(device, at.child('device'))),
  ]
}

export const deviceTaintRuleBehaviour: Behaviour = {
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
    object.metadata.generation = 1
  },
  prepareForUpdate(next, old, { now }) {
    keepStatus(next, old)
    const [taint, before]: Loose[] = [next.spec?.taint, old.spec?.taint]
    // A new effect starts now, unless the client sets timeAdded.
    if (taint && taint.effect !== before?.effect && taint.timeAdded === before?.timeAdded) {
      taint.timeAdded = now
    }
    raiseGeneration(next, old, ['spec'])
  },
  validateCreate: (object) => check(object),
  validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...check(next, old)],
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: (next, old, { release }) => [
        ...checkMetadataUpdate(next, old),
        ...checkConditions(next.status?.conditions ?? [], conditionsPath, releaseOf(release)),
      ],
    },
  },
}
