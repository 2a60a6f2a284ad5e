/**
 * The ConfigMap a kubelet takes its configuration from: which members are allowed in spec, and
 * which in status.
 */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goStruct } from '#api/go-syntax.ts'
import { configMapKey, nameIsDnsLabel, nameIsDnsSubdomain } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'

export function checkConfigSource(source: Loose | undefined): FieldError[] {
  if (!source) return []
  const path = FieldPath.of('spec', 'configSource')
  return checkSource(source, path, (map, at) => {
    const errors: FieldError[] = []
    for (const field of ['uid', 'resourceVersion']) {
      if (map[field]) errors.push(forbidden(at.child(field), `${field} must not be set in spec`))
    }
    return errors
  })
}

export function checkConfigStatus(status: Loose | undefined): FieldError[] {
  return ['assigned', 'active', 'lastKnownGood'].flatMap((name) =>
    status?.[name]
      ? checkSource(status[name], FieldPath.of('status', 'config', name), checkResolved)
      : [],
  )
}

function checkResolved(map: Loose, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['uid', 'resourceVersion']) {
    if (!map[field]) errors.push(required(at.child(field), `${field} must be set in status`))
  }
  return errors
}

function checkSource(
  source: Loose,
  path: FieldPath,
  checkVersion: (map: Loose, at: FieldPath) => FieldError[],
): FieldError[] {
  const { configMap } = source
  if (!configMap) {
    const shown = goStruct('core.NodeConfigSource', [
      ['ConfigMap', goPointer('core.ConfigMapNodeConfigSource', undefined)],
    ])
    return [invalid(path, asGo(shown), 'exactly one reference subfield must be non-nil')]
  }
  const at = path.child('configMap')
  const field = (name: string, problems: (value: string) => string[]): FieldError[] =>
    configMap[name]
      ? each(at.child(name), configMap[name], problems(configMap[name]))
      : [required(at.child(name), `${name} must be set`)]
  return [
    ...checkVersion(configMap, at),
    ...field('namespace', (value) => nameIsDnsLabel(value, false)),
    ...field('name', (value) => nameIsDnsSubdomain(value, false)),
    ...field('kubeletConfigKey', configMapKey),
  ]
}
