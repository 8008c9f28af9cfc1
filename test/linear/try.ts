import { Worker } from 'node:worker_threads'
import { IS_FULL } from '../support/amounts.ts'
import { type Attack, attacksOn, textOf } from './attacks.ts'
import { notingMadePatterns } from './made-patterns.ts'
import type { FoundPattern } from './patterns.ts'

/** Small texts show which attacks may be the worst, larger ones of those which one is, and the largest that even it ends. */
const SMALL = 3_000
const LARGER = 48_000
const LARGEST = (IS_FULL ? 8 : 1) * 1024 * 1024
const MOST_LARGER = 3
/** A linear pattern needs far less for the larger text. What needs more is tried in every way with the largest. */
const SUSPICIOUS_MS = 60

interface Tried {
  readonly name: string
  readonly attacks: readonly Attack[]
  readonly run: (text: string) => unknown
  /** A way that is as good in the largest text, and shorter where all is well. */
  readonly runLargest?: (text: string) => unknown
}

/** Time of the processor: what others do on the machine does not count. */
const cpuMs = (): number => process.cpuUsage().user / 1_000

interface Measured {
  readonly attack: Attack
  readonly ms: number
}

const measured = (attacks: readonly Attack[], length: number, { run }: Tried): readonly Measured[] =>
  attacks
    .map((attack) => {
      const text = textOf(attack, length)
      const before = cpuMs()
      run(text)
      return { attack, ms: cpuMs() - before }
    })
    .toSorted((a, b) => b.ms - a.ms)

const worstOf = (tried: Tried): Measured | undefined => {
  const { attacks } = tried
  // The first time costs more than any text: what is needed is loaded and compiled.
  for (const attack of attacks.slice(0, 1)) tried.run(textOf(attack, SMALL))
  const small = measured(attacks, SMALL, tried).slice(0, MOST_LARGER)
  return measured(
    small.map(({ attack }) => attack),
    LARGER,
    tried,
  )[0]
}

const turn = new Int32Array(new SharedArrayBuffer(4))

/** Says what is tried before it is: whoever waits knows what did not end. */
const say = (words: string): void => {
  Atomics.add(turn, 0, 1)
  process.stdout.write(`${words}\n`)
}

/** Ends this process when one thing takes longer than this. A pattern lets nothing else of its own thread happen. */
const endAfter = (mostMs: number): void => {
  const code = `
    const { workerData: { turn, mostMs } } = require('node:worker_threads')
    let [last, since] = [0, 0]
    setInterval(() => {
      const [now, { user, system }] = [Atomics.load(turn, 0), process.cpuUsage()]
      const ms = (user + system) / 1_000
      if (now !== last) [last, since] = [now, ms]
      else if (ms - since > mostMs) process.kill(process.pid, 'SIGKILL')
    }, 100)`
  new Worker(code, { eval: true, workerData: { turn, mostMs } }).unref()
}

const tryAll = (all: readonly Tried[]): void => {
  for (const tried of all) {
    say(tried.name)
    const worst = worstOf(tried)
    if (worst === undefined) continue
    const text = textOf(worst.attack, LARGEST)
    say(`${tried.name} on ${JSON.stringify(worst.attack)}`)
    if (worst.ms > SUSPICIOUS_MS || tried.runLargest === undefined) tried.run(text)
    else tried.runLargest(text)
  }
  say('done')
}

const ofPattern = ({ place, source, flags }: FoundPattern): Tried => {
  const everywhere = new RegExp(source, flags.includes('y') ? flags : `${flags.replace('g', '')}g`)
  const once = new RegExp(source, flags.replace('g', ''))
  return {
    name: `${place} /${source}/${flags}`,
    attacks: attacksOn({ source, flags }),
    run: (text) => toItsEnd(() => text.replace(everywhere, '')),
    runLargest: (text) => toItsEnd(() => once.test(text)),
  }
}

/** A pattern that finds no room for its way back throws, which is an end. What reads texts of others must not: see the doors. */
const toItsEnd = (work: () => unknown): void => {
  try {
    work()
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
  }
}

const [, , what = '', mostMs = '', given = ''] = process.argv
endAfter(Number(mostMs))
if (what === 'pattern') tryAll([ofPattern({ place: 'planted', source: given, flags: '' })])
else if (what === 'patterns') {
  const { allPatterns } = await import('./patterns.ts')
  tryAll(allPatterns().found.map(ofPattern))
} else {
  const madePatterns = notingMadePatterns()
  const { DOORS, PUMPS } = await import('./doors.ts')
  /** Texts at the beginning, and after something: much is looked for in the first line only. */
  const attacks = PUMPS.flatMap((pump) => [
    { before: '', pump, after: '' },
    { before: 'x', pump, after: '\u0001x y' },
  ])
  const doors = Object.entries(DOORS).map(([name, run]) => ({ name, attacks, run }))
  for (const { run } of doors) for (const attack of attacks) run(textOf(attack, 100))
  // Classes within classes are not read here: such a pattern is tried behind its door only.
  const made = madePatterns().filter(({ flags }) => !flags.includes('v'))
  tryAll([...made.map(ofPattern), ...doors])
}
