import type { Environment } from '../../ports/system/environment.ts'

/** A name that stands for nothing. */
export class MissingVariable extends Error {
  override readonly name = 'MissingVariable'
  readonly variable: string

  constructor(variable: string, problem = 'is not set') {
    super(`The variable ${variable} ${problem}.`)
    this.variable = variable
  }
}

const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g

/** Fills in `${NAME}`, and remembers every value it filled in: those are secrets. */
export class Variables {
  readonly used: string[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** The variables of a text whose value is so, by name. */
  namesIn(text: string, isSo: (value: string) => boolean): readonly string[] {
    return [...text.matchAll(VARIABLE)]
      .map(([, name = '']) => name)
      .filter((name) => isSo(this.#environment[name] ?? ''))
  }

  /** @throws MissingVariable with its name */
  fill(text: string): string {
    return text.replace(VARIABLE, (_, name: string) => {
      const value = Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined
      if (value === undefined) throw new MissingVariable(name)
      this.used.push(value)
      return value
    })
  }
}

/** Variables that every command needs to find its programs and to speak the user's language, and no more. */
const PASSED = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TERM'])

/** The variables a command sees: the usual ones, and those that were named. */
export const passedOn = (environment: Environment, named: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (PASSED.has(entry[0]) || entry[0].startsWith('LC_') || named.includes(entry[0])),
    ),
  )
