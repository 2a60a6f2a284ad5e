/** VolumeAttachment: a volume that is to be, or is, attached to a node. */
import {
  covered,
  type FieldError,
  forbidden,
  invalid,
  required,
  tooLong,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goQuote, goStruct, type GoText } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each, samePart, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkMetadata } from '#kinds/all-kinds/metadata.ts'
import { checkCsiDriverName } from '#kinds/pod-template/network-volumes.ts'
import {
  dropUnlessUsed,
  keepObjectMetaForStatus,
  keepSpec,
  keepStatus,
} from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { oncePodIn } from '#kinds/core/persistent-volume-claim/access-modes.ts'
import { checkInlineVolumeSpec, volumeRules } from '#kinds/core/persistent-volume/volume-spec.ts'

const specPath = FieldPath.of('spec')
const metadataSizeBytesMax = 256 * 1024
const messageLengthMax = 1024

const isBeta = (context: Context): boolean => context.requestApiVersion === 'storage.k8s.io/v1beta1'

const checksAttacher = change('each write to a VolumeAttachment checks the name of the attacher', {
  since: 37,
})

/** Older releases check the name only in a new object. Declared rules report the same problems. */
function checkAttacher(attacher: string, { release }: Context): FieldError[] {
  const path = specPath.child('attacher')
  if (attacher === '') return [required(path)]
  if (!releaseOf(release).has(checksAttacher)) return []
  return checkCsiDriverName(attacher, path).map((error) =>
    error.type === 'FieldValueInvalid'
      ? { ...error, origin: 'format=k8s-long-name-caseless' }
      : error,
  )
}

function check(object: KubeObject, context: Context): FieldError[] {
  const { attacher = '', nodeName = '', source = {} } = object.spec ?? {}
  return [
    ...checkAttacher(attacher, context),
    ...checkSource(source, specPath.child('source'), context),
    ...each(specPath.child('nodeName'), nodeName, nameIsDnsSubdomain(nodeName, false)),
    ...checkStatus(object.status ?? {}, FieldPath.of('status')),
  ]
}

function checkSource(source: Loose, path: FieldPath, context: Context): FieldError[] {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (!inline && name === undefined) {
    const detail = context.feature('CSIMigration')
      ? exactlyOne
      : 'must specify persistentVolumeName when CSIMigration feature is disabled'
    return [required(path, detail)]
  }
  if (inline && name !== undefined) return [forbidden(path, exactlyOne)]
  if (inline) {
    const once = oncePodIn({ ...context, feature: () => false })
    return checkInlineVolumeSpec(
      inline,
      path.child('inlineVolumeSpec'),
      once,
      volumeRules({ ...context, feature: () => false }),
    )
  }
  const at = path.child('persistentVolumeName')
  return name === '' ? [required(at, 'must specify non empty persistentVolumeName')] : []
}

function checkStatus(status: Loose, path: FieldPath): FieldError[] {
  const metadata: Record<string, string> = status.attachmentMetadata ?? {}
  const size = sortedKeys(metadata).reduce(
    (sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(metadata[key] as string),
    0,
  )
  const errors: FieldError[] = []
  if (size > metadataSizeBytesMax) {
    errors.push(tooLong(path.child('attachmentMetadata'), '', metadataSizeBytesMax))
  }
  for (const field of ['attachError', 'detachError']) {
    const code: number | undefined = status[field]?.errorCode
    if (code !== undefined && code < 0) {
      const detail = 'must be between 0 and 2147483647, inclusive'
      errors.push(invalid(path.child(field, 'errorCode'), code, detail))
    }
    if (Buffer.byteLength(status[field]?.message ?? '') <= messageLengthMax) continue
    errors.push(tooLong(path.child(field, 'message'), '', metadataSizeBytesMax))
  }
  return errors
}

/** Rules that came with the stable version. */
function checkStable(object: KubeObject, { release }: Context): FieldError[] {
  const { attacher = '', source = {} } = object.spec ?? {}
  const name: string | undefined = source.persistentVolumeName
  const path = FieldPath.of('spec.source.persistentVolumeName')
  return [
    ...(releaseOf(release).has(checksAttacher)
      ? []
      : checkCsiDriverName(attacher, FieldPath.of('spec.attacher'))),
    ...(name === undefined ? [] : each(path, name, nameIsDnsSubdomain(name, false))),
  ]
}

const goSpec = (spec: Loose): GoText =>
  goStruct('storage.VolumeAttachmentSpec', [
    ['Attacher', goQuote(spec.attacher ?? '')],
    [
      'Source',
      goStruct('storage.VolumeAttachmentSource', [
        ['PersistentVolumeName', goPointer('string', spec.source?.persistentVolumeName)],
        ['InlineVolumeSpec', goPointer('core.PersistentVolumeSpec', spec.source?.inlineVolumeSpec)],
      ]),
    ],
    ['NodeName', goQuote(spec.nodeName ?? '')],
  ])

const checkSpecKept = (next: KubeObject, old: KubeObject): FieldError[] =>
  samePart(next.spec, old.spec)
    ? []
    : [covered(invalid('spec', asGo(goSpec(next.spec ?? {})), immutableMessage))]

/**
 * kube-apiserver validates a changed attachment completely, and then again together with its
 * immutable fields.
 */
function checkUpdate(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const whole = [...checkMetadata(next, false, nameIsDnsSubdomain), ...check(next, context)]
  return [...whole, ...whole, ...checkSpecKept(next, old)]
}

export const volumeAttachmentBehaviour: Behaviour = {
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object, context) {
    if (!isBeta(context)) object.status = { attached: false }
    dropUnlessUsed(object.spec?.source, 'inlineVolumeSpec', context.feature('CSIMigration'), false)
  },
  prepareForUpdate(next, old, context) {
    if (!isBeta(context)) keepStatus(next, old)
    const used = Boolean(old.spec?.source?.inlineVolumeSpec)
    dropUnlessUsed(next.spec?.source, 'inlineVolumeSpec', context.feature('CSIMigration'), used)
  },
  validateCreate: (object, context) => [
    ...check(object, context),
    ...(isBeta(context) ? [] : checkStable(object, context)),
  ],
  validateUpdate: checkUpdate,
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: checkUpdate,
    },
  },
}
