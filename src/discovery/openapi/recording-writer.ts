/**
 * Records protobuf with placeholders once, and replays it with the names of each kind. Parts
 * without placeholders are copied; lengths of parts with placeholders are recomputed. Writing
 * proceeds from the end to the front.
 *
 *   a message with the text 'one Qzkindzq' is recorded as:
 *   open, spell 'one ' and the kind, copy the tag, close
 */
import { WireWriter } from '#base/wire.ts'
import { filled, type Marked, markedText } from './marked-kind.ts'

type Step =
  | { does: 'copy'; bytes: Buffer }
  | { does: 'spell'; text: Marked }
  /** Remembers the number of bytes written so far, to compute the length of the next message. */
  | { does: 'open'; place: number }
  | { does: 'close'; place: number }

export type Recording = readonly Step[]

/** A range of the recording that cannot be copied unchanged. */
interface Special {
  readonly from: number
  readonly to: number
  readonly step: Step
}

export class RecordingWriter extends WireWriter {
  readonly #specials: Special[] = []
  readonly #opened = new Set<number>()

  override string(text: string): void {
    const from = this.length
    super.string(text)
    const marked = markedText(text)
    if (marked === undefined) return
    this.#specials.push({ from, to: this.length, step: { does: 'spell', text: marked } })
  }

  override lengthSince(start: number): void {
    const from = this.length
    super.lengthSince(start)
    const last = this.#specials.at(-1)
    if (last === undefined || last.from < start) return
    this.#opened.add(start)
    this.#specials.push({ from, to: this.length, step: { does: 'close', place: start } })
  }

  record(): Recording {
    const written = this.bytes()
    const steps: Step[] = []
    const copy = (from: number, to: number) => {
      if (to > from) {
        const bytes = written.subarray(written.length - to, written.length - from)
        steps.push({ does: 'copy', bytes: Buffer.from(bytes) })
      }
    }
    const opened = [...this.#opened].sort((a, b) => a - b)
    let at = 0
    const goTo = (place: number) => {
      while (opened.length > 0 && opened[0] <= place) {
        const next = opened.shift() as number
        copy(at, next)
        at = next
        steps.push({ does: 'open', place: next })
      }
      copy(at, place)
    }
    for (const { from, to, step } of this.#specials) {
      goTo(from)
      steps.push(step)
      at = to
    }
    goTo(written.length)
    return steps
  }
}

export function replay(recording: Recording, writer: WireWriter, names: readonly string[]): void {
  const opened = new Map<number, number>()
  for (const step of recording) {
    switch (step.does) {
      case 'copy':
        writer.raw(step.bytes)
        break
      case 'spell':
        writer.string(filled(step.text, names))
        break
      case 'open':
        opened.set(step.place, writer.length)
        break
      case 'close':
        writer.lengthSince(opened.get(step.place) as number)
    }
  }
}
