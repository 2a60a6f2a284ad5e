/** Which container of a pod logs, exec and attach mean, and the limits of log requests. */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { containersOf } from './containers-of.ts'

export type ContainerChoice = { container: string } | { problem: string }

/** The container asked for, or the only one; `problem` is the message of a bad request. */
export function chooseContainer(
  pod: KubeObject,
  asked: string,
  ephemeralContainers: boolean,
): ContainerChoice {
  const { name } = pod.metadata
  const main: Loose[] = pod.spec.containers ?? []
  const spec = ephemeralContainers ? pod.spec : { ...pod.spec, ephemeralContainers: [] }
  const names = containersOf(spec).map((container): string => container.name ?? '')
  if (asked !== '') {
    if (names.includes(asked)) return { container: asked }
    return { problem: `container ${asked} is not valid for pod ${name}` }
  }
  if (main.length === 1) return { container: main[0]?.name ?? '' }
  const need = `a container name must be specified for pod ${name}`
  if (main.length === 0) return { problem: need }
  return { problem: `${need}, choose one of: [${names.join(' ')}]` }
}

export interface LogOptions {
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly sinceSeconds?: number
  readonly sinceTime?: string
}

export function checkLogOptions(options: LogOptions): FieldError[] {
  const errors: FieldError[] = []
  const { tailLines, limitBytes, sinceSeconds, sinceTime } = options
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'))
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'))
  }
  if (sinceSeconds === undefined) return errors
  if (sinceTime !== undefined) {
    const detail = 'at most one of `sinceTime` or `sinceSeconds` may be specified'
    errors.push(forbidden('', detail))
  } else if (sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'))
  }
  return errors
}
