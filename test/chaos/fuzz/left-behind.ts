import { readEverything } from '../check/fold.ts'
import type { Finding, Side } from './episode.ts'
import { inShort, outcomeOf } from './outcome.ts'

/** What is wrong with what an episode has left: everything must verify and be readable. */
export const leftBehind = async (sides: readonly Side[], taken: readonly string[]): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  const after = taken.length === 0 ? 'right requests only' : taken.join(' | ')
  for (const side of sides) {
    for (const [what, problem] of await problemsOn(side))
      findings.push(`${what}: on ${side.on.name} after ${after}: ${problem}`)
  }
  return findings
}

const problemsOn = async ({ on, world }: Side): Promise<readonly (readonly [what: string, problem: string])[]> => {
  const problems: [string, string][] = []
  for (const id of world.conversations) {
    const verified = await outcomeOf(async () => {
      const verdict = await on.audit.verify(id)
      if (verdict.ok && !verdict.value.intact) throw new Error(verdict.value.problem.class)
      return { ok: true, value: {} }
    })
    if (verified.isThrown) problems.push(['does not verify', inShort(verified)])
    const read = await outcomeOf(async () => {
      await readEverything(on.store, id)
      return { ok: true, value: {} }
    })
    if (read.isThrown) problems.push(['cannot be read', inShort(read)])
  }
  return problems
}
