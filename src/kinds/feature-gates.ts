/**
 * The feature gates of the emulated release: stage, default and allowed values. Disabling a locked
 * gate, or specifying an unknown one, prevents the start.
 */

export type Stage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED'

/** For each gate, the spans of releases with equal values: first, last, stage, default, locked. */
export type GateTable = Readonly<
  Record<string, readonly (readonly [number, number, Stage, boolean, boolean])[]>
>

export interface FeatureGates {
  /** The gates of the release. */
  readonly known: ReadonlyMap<string, { readonly stage: Stage; readonly on: boolean }>
  /**
   * A gate that an earlier release removed keeps its last default. A gate of a later release is
   * disabled.
   */
  readonly enabled: (gate: string) => boolean
  /** Warnings for the operator about the feature gates. */
  readonly warnings: readonly string[]
}

/** Generally available gates that can still be disabled. */
const operational = new Set(['ServerSideApply'])

const allOfStage = [
  ['AllAlpha', 'ALPHA'],
  ['AllBeta', 'BETA'],
] as const

export function featureGates(
  table: GateTable,
  release: number,
  given: ReadonlyMap<string, boolean>,
): FeatureGates | { error: string } {
  const known = new Map<string, { stage: Stage; on: boolean; locked: boolean }>()
  /** Gates that earlier releases removed because their feature is always enabled. */
  const settled = new Set<string>()
  for (const [name, spans] of Object.entries(table)) {
    const span = spans.findLast(([first]) => first <= release)
    if (span === undefined) continue
    const [, last, stage, on, locked] = span
    if (release <= last) known.set(name, { stage, on, locked })
    else if (on) settled.add(name)
  }
  for (const [all, stage] of allOfStage) {
    const wanted = given.get(all)
    if (wanted === undefined) continue
    for (const gate of known.values()) if (gate.stage === stage) gate.on = wanted
  }
  const warnings: string[] = []
  for (const [name, on] of given) {
    if (name === 'AllAlpha' || name === 'AllBeta') continue
    const gate = known.get(name)
    if (gate === undefined) {
      return {
        error: `--feature-gates: unrecognized feature gate: ${name}; release 1.${release} does not have it`,
      }
    }
    const spent = gate.locked || (gate.stage === 'GA' && !operational.has(name))
    if (spent && on !== gate.on) {
      return {
        error: `--feature-gates: cannot set feature gate ${name} to ${on}, feature is locked to ${gate.on}: it is generally available and its gate no longer does anything`,
      }
    }
    if (gate.stage === 'GA' || gate.stage === 'DEPRECATED') {
      const word = gate.stage === 'GA' ? 'GA' : 'deprecated'
      warnings.push(
        `Setting ${word} feature gate ${name}=${on}. It will be removed in a future release.`,
      )
    }
    gate.on = on
  }
  // kube-apiserver counts the switches of all gates of a stage as gates.
  for (const [all, stage] of allOfStage)
    known.set(all, { stage, on: given.get(all) ?? false, locked: false })
  return { known, enabled: (name) => known.get(name)?.on ?? settled.has(name), warnings }
}
