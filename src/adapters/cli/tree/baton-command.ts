import { Command, type CommanderError, type ParseOptionsResult } from 'commander'
import { UsageError } from '../invocation/command-problems.ts'

const FROM_USER = { from: 'user' } as const

/** A node of the command tree: a group or a command. Every mistake in its words becomes one sentence. */
export class BatonCommand extends Command {
  constructor(name?: string) {
    super(name)
    this.#throwOwn()
  }

  override copyInheritedSettings(source: Command): this {
    super.copyInheritedSettings(source)
    this.#throwOwn() // and not the parent's, which would name the parent
    return this
  }

  override createCommand(name?: string): BatonCommand {
    return new BatonCommand(name)
  }

  /** The words that call it. */
  get path(): string {
    return this.parent === null ? 'baton' : `${(this.parent as BatonCommand).path} ${this.name()}`
  }

  get isGroup(): boolean {
    return this.commands.length > 0
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    return super.parseOptions(this.isGroup ? args : this.#checked(args))
  }

  /** Commander would take the next flag for a forgotten value, and would repeat the value of a misspelled flag. */
  #checked(args: readonly string[]): string[] {
    const end = args.includes('--') ? args.indexOf('--') : args.length
    const checked = args.slice(0, end).map((word) => {
      const [flag = ''] = word.split('=')
      return word.startsWith('--') && this.#option(flag) === undefined ? flag : word
    })
    for (let at = 0; at < end; at += 1) {
      const [flag = '', value = ''] = checked.slice(at)
      if (this.#option(flag)?.required !== true) continue
      if (at + 1 < end && /^-./.test(value))
        throw new UsageError(
          `${flag} needs a value, and "${value}" looks like a flag. If it is meant, join it with "=".`,
        )
      at += 1
    }
    return [...checked, ...args.slice(end)]
  }

  #option(flag: string) {
    return this.options.find(({ long, short }) => long === flag || short === flag)
  }

  #throwOwn(): void {
    this.exitOverride((error) => {
      throw error.exitCode === 0 ? this.#shown(error) : this.#mistake(error)
    })
  }

  /** Help was shown. Asked of a command that does not exist, it is a mistake all the same. */
  #shown(error: CommanderError): CommanderError {
    const [word] = this.args
    const isAskedByFlag = error.code === 'commander.helpDisplayed'
    if (isAskedByFlag && this.isGroup && word !== undefined && !word.startsWith('-')) this.parse([word], FROM_USER)
    return error
  }

  #mistake({ code, message }: CommanderError): UsageError {
    const meant = /\n\(Did you mean ([^\n]+)\?\)$/.exec(message)?.[1]
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    const [, word = ''] = /^error: [a-z ]+'(.*)'/s.exec(message) ?? []
    const [name = ''] = word.split(/[ =]/)
    switch (code) {
      case 'commander.unknownCommand':
        return new UsageError(
          `There is no command "${`${this.path} ${word}`.slice('baton '.length)}".${hint} "${this.#help}" lists them.`,
        )
      case 'commander.unknownOption':
        return new UsageError(`"${this.path}" has no flag "${name}".${hint} "${this.#help}" lists them.`)
      case 'commander.optionMissingArgument':
        return new UsageError(`${name} needs a value. "${this.#help}" says which.`)
      case 'commander.help': {
        const words = this.commands.map((command) => command.name()).join(', ')
        return new UsageError(`"${this.path}" needs one more word: ${words}. "${this.#help}" says more.`)
      }
      default:
        return new UsageError(message.replace(/^error: /, ''))
    }
  }

  get #help(): string {
    return this.path.replace(/^baton/, 'baton help')
  }
}
