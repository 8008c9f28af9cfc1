import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A step that an agent has carried out. It is on disk before anybody hears of it. */
export interface ExecutedStep {
  /** Names the step; no other has the same. */
  readonly id: string
  /** The process that carried it out. */
  readonly by: string
  readonly job: number
  readonly agent: string
  readonly at: number
}

/** The text by which a step is found in the record. */
export const textOf = ({ id, by, job, agent }: ExecutedStep): string => `Step ${id} by ${by}: job ${job} as ${agent}`

/** The step that a text speaks of. */
export const stepIn = (text: string): Omit<ExecutedStep, 'at'> | undefined => {
  const [, id, by, job, agent] = /^Step (\S+) by (\S+): job (\d+) as (\S+)$/.exec(text) ?? []
  if (id === undefined || by === undefined || agent === undefined) return undefined
  return { id, by, job: Number(job), agent }
}

/** Writes the steps of one process down, each on disk before the next. */
export class StepLedger {
  readonly #file: number

  constructor(folder: string, name: string) {
    this.#file = openSync(join(folder, `${name}.steps`), 'a')
  }

  write(step: ExecutedStep): void {
    writeSync(this.#file, `${JSON.stringify(step)}\n`)
    fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** The steps of every process. A last line that a killed one did not finish is left out: nobody heard of it. */
export const readSteps = (folder: string): readonly ExecutedStep[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.steps'))
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ExecutedStep)
    })
