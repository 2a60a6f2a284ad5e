/** The table cells that show the containers of a pod template. */
import type { Loose } from '#api/object-meta.ts'

/** Table cells with the names and the images of all containers. */
export function containerCells(template: Loose | null | undefined): [string, string] {
  const containers: Loose[] = template?.spec?.containers ?? []
  const join = (field: string) => containers.map((container) => container[field] ?? '').join(',')
  return [join('name'), join('image')]
}
