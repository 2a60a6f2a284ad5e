/**
 * The rows of a JSON table, as text. What a row is made from is parsed once per version of an object and kept for a
 * while: the same lists are asked for again and again, and only their ages change.
 */
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { metaApiVersion, type MetaVersion } from '#codec/partial-metadata.ts'
import type { Columns, IncludeObject, TableItem } from '#codec/table.ts'
import type { Kind } from '#kinds/kind.ts'
import type { ObjectView } from '#verbs/answer.ts'

/** Objects kept parsed: a page of the size kubectl asks for. */
const keptMax = 500

interface Kept {
  readonly kind: Kind
  readonly item: TableItem
  /** The object column by what is included, made when first asked for. */
  readonly texts: Map<string, string>
}

export class TableRows {
  readonly #kept = new Map<Buffer, Kept>()

  /** What the rows of an object are made from, parsed where it is not at hand. */
  async keep(kind: Kind, view: ObjectView, parse: () => Promise<TableItem>): Promise<Kept> {
    const { bytes } = view.cut
    const known = this.#kept.get(bytes)
    if (known?.kind === kind && known.item.shown.metadata.resourceVersion === String(view.revision))
      return known
    const made = { kind, item: await parse(), texts: new Map<string, string>() }
    this.#kept.set(bytes, made)
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value as Buffer)
    return made
  }

  row(
    kept: Kept,
    columns: Columns,
    now: number,
    include: IncludeObject,
    version: MetaVersion,
  ): string {
    const { cellsOf } = kept.item
    const cells = JSON.stringify(columns.cells(cellsOf, now))
    const conditions = columns.conditions?.(cellsOf)
    const middle = conditions?.length ? `,"conditions":${JSON.stringify(conditions)}` : ''
    return `{"cells":${cells}${middle},"object":${this.#object(kept, include, version)}}`
  }

  #object({ item, texts }: Kept, include: IncludeObject, version: MetaVersion): string {
    if (include === 'None') return 'null'
    const name = `${include} ${version}`
    let text = texts.get(name)
    if (text === undefined) {
      const { shown, alone = shown } = item
      text = JSON.stringify(include === 'Object' ? shown : metadataAlone(alone, version))
      texts.set(name, text)
    }
    return text
  }
}

const metadataAlone = ({ metadata }: KubeObject, version: MetaVersion): Loose => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaApiVersion(version),
  metadata,
})
