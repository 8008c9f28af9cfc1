import { type Attack, attacksOn, textOf } from './attacks.ts'
import { DOORS, PUMPS } from './doors.ts'
import { allPatterns } from './patterns.ts'

/** A small text shows which attack is the worst, and a large one that even that ends. */
const SMALL = 3_000
const LARGE = 8 * 1024 * 1024
/** A linear pattern needs less than a tenth of it for a small text. What needs more is tried in every way with a large one. */
const SUSPICIOUS_MS = 5

interface Tried {
  readonly name: string
  readonly attacks: readonly Attack[]
  readonly run: (text: string) => unknown
  /** A way that is as good in a large text, and shorter where all is well. */
  readonly runLarge?: (text: string) => unknown
}

const cpuMs = (): number => process.cpuUsage().user / 1_000

const worstOf = ({ attacks, run }: Tried): { readonly attack: Attack | undefined; readonly ms: number } => {
  let worst: { attack: Attack | undefined; ms: number } = { attack: attacks[0], ms: -1 }
  for (const attack of attacks) {
    const text = textOf(attack, SMALL)
    const before = cpuMs()
    run(text)
    const ms = cpuMs() - before
    if (ms > worst.ms) worst = { attack, ms }
  }
  return worst
}

/** Says what is tried before it is: whoever waits knows what did not end. */
const say = (words: string): boolean => process.stdout.write(`${words}\n`)

const tryAll = (all: readonly Tried[]): void => {
  for (const tried of all) {
    say(tried.name)
    const { attack, ms } = worstOf(tried)
    if (attack === undefined) continue
    const text = textOf(attack, LARGE)
    say(`${tried.name} on ${JSON.stringify(attack)}`)
    if (ms > SUSPICIOUS_MS || tried.runLarge === undefined) tried.run(text)
    else tried.runLarge(text)
  }
  say('done')
}

const patterns = (): readonly Tried[] =>
  allPatterns().found.map(({ place, source, flags }) => {
    const everywhere = new RegExp(source, flags.includes('y') ? flags : `${flags.replace('g', '')}g`)
    const once = new RegExp(source, flags.replace('g', ''))
    return {
      name: `${place} /${source}/${flags}`,
      attacks: attacksOn({ source, flags }),
      run: (text) => toItsEnd(() => text.replace(everywhere, '')),
      runLarge: (text) => toItsEnd(() => once.test(text)),
    }
  })

/** A pattern that finds no room for its way back throws, which is an end. What reads texts of others must not: see the doors. */
const toItsEnd = (work: () => unknown): void => {
  try {
    work()
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
  }
}

/** Texts at the beginning, and after something: much is looked for in the first line only. */
const doors = (): readonly Tried[] =>
  Object.entries(DOORS).map(([name, run]) => ({
    name,
    attacks: PUMPS.flatMap((pump) => [
      { before: '', pump, after: '' },
      { before: 'x', pump, after: '\u0001x y' },
    ]),
    run,
  }))

const [, , what = '', planted] = process.argv
if (planted !== undefined) {
  const once = new RegExp(planted)
  tryAll([{ name: planted, attacks: attacksOn({ source: planted, flags: '' }), run: (text) => once.test(text) }])
} else tryAll(what === 'doors' ? doors() : patterns())
