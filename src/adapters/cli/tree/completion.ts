import { parsedAs, wordFlag } from '../choose/flag-values.ts'
import { UsageError } from '../invocation/command-problems.ts'
import { SHELLS, type Shell } from '../invocation/flag-words.ts'
import type { CliCommand, Flag, Run } from '../invocation/invocation.ts'
import { CLI_COMMANDS, GROUPS } from './index.ts'

/** One place in the command tree: the words that lead there, and what can follow them. */
interface Place {
  readonly path: string
  /** The next word of a command, or a value that the command takes. */
  readonly words: readonly Word[]
  readonly flags: readonly (readonly [name: string, flag: Flag])[]
}

interface Word {
  readonly word: string
  readonly help: string
}

/** The commands and groups of a tree. */
export interface Tree {
  readonly commands: Readonly<Record<string, CliCommand>>
  readonly groups: Readonly<Record<string, string>>
}

/** A script that completes the whole tree in a shell, without ever starting the program. */
export const renderCompletion = (shell: Shell, tree: Tree): string => SCRIPTS[shell](placesOf(tree)).join('\n')

/** Every place of the tree, the root first. */
const placesOf = ({ commands, groups }: Tree): readonly Place[] => {
  const singles = Object.entries(commands).filter(([name]) => !name.includes(' '))
  const first: readonly Word[] = [
    ...singles.map(([word, { summary }]) => ({ word, help: summary })),
    ...Object.entries(groups).map(([word, help]) => ({ word, help })),
    { word: 'help', help: 'show the help of a command' },
    { word: 'version', help: 'show the version' },
  ]
  const inGroup = (group: string): readonly Word[] =>
    Object.entries(commands).flatMap(([name, { summary }]) =>
      name.startsWith(`${group} `) ? [{ word: name.slice(group.length + 1), help: summary }] : [],
    )
  return [
    { path: '', words: first, flags: [['version', { help: 'show the version' }], HELP] },
    { path: 'help', words: first.filter(({ word }) => word !== 'help'), flags: [HELP] },
    ...Object.keys(groups).map((path) => ({ path, words: inGroup(path), flags: [HELP] })),
    ...Object.keys(groups).map((group) => ({ path: `help ${group}`, words: inGroup(group), flags: [] })),
    ...Object.entries(commands).map(([path, { words = [], flags }]) => ({
      path,
      words: words.map((word) => ({ word, help: '' })),
      flags: [...Object.entries(flags), HELP],
    })),
  ]
}

const HELP: readonly [string, Flag] = ['help', { help: 'show help' }]

const FILES: readonly string[] = ['FILE', 'DIR']

/** A text as one word of a shell, whatever is in it. */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const wordsOf = ({ words, flags }: Place): string =>
  [...words.map(({ word }) => word), ...flags.map(([name]) => `--${name}`)].join(' ')

/** Paths that a word leads to from a place, for the walk over the words before the cursor. */
const steps = (places: readonly Place[]): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => shellWord(path.includes(' ') ? path : ` ${path}`))
    .join('|')

/** The flags that take a value, with the place they belong to. */
const valued = (places: readonly Place[]) =>
  places.flatMap(({ path, flags }) =>
    flags.flatMap(([name, flag]) =>
      flag.value === undefined || flag.isValueOptional ? [] : [{ path, name, flag, value: flag.value }],
    ),
  )

/** bash and zsh walk the words in the same way. */
const walk = (places: readonly Place[], words: string): readonly string[] => [
  `  for word in ${words}; do`,
  '    case "$place $word" in',
  `      ${steps(places)}) place="\${place:+$place }$word" ;;`,
  '    esac',
  '  done',
]

const bash = (places: readonly Place[]): readonly string[] => [
  '# Completion of baton for bash. Use it with: source <(baton completion bash)',
  '_baton() {',
  `  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place="" words="" word`,
  ...walk(places, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`),
  '  case "$place $previous" in',
  ...valued(places).map(({ path, name, flag, value }) => {
    const reply =
      flag.words !== undefined
        ? `compgen -W ${shellWord(flag.words.join(' '))}`
        : FILES.includes(value)
          ? 'compgen -f'
          : ''
    const answer = reply === '' ? 'COMPREPLY=()' : `COMPREPLY=($(${reply} -- "$current"))`
    return `    ${shellWord(`${path} --${name}`)}) ${answer}; return ;;`
  }),
  '  esac',
  '  case "$place" in',
  ...places.map((place) => `    ${shellWord(place.path)}) words=${shellWord(wordsOf(place))} ;;`),
  '  esac',
  '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
  '}',
  'complete -o default -F _baton baton',
]

const zsh = (places: readonly Place[]): readonly string[] => [
  '#compdef baton',
  '# Completion of baton for zsh. Use it with: source <(baton completion zsh)',
  '_baton() {',
  `  local place="" word previous="\${words[CURRENT-1]}"`,
  '  local -a offers',
  ...walk(places, `"\${(@)words[2,CURRENT-1]}"`),
  '  case "$place $previous" in',
  ...valued(places).map(({ path, name, flag, value }) => {
    const reply =
      flag.words !== undefined
        ? `compadd -- ${flag.words.map(shellWord).join(' ')}`
        : FILES.includes(value)
          ? '_files'
          : ':'
    return `    ${shellWord(`${path} --${name}`)}) ${reply}; return ;;`
  }),
  '  esac',
  '  case "$place" in',
  ...places.map(({ path, words, flags }) => {
    const offers = [...words, ...flags.map(([name, { help }]) => ({ word: `--${name}`, help }))]
    const described = offers.map(({ word, help }) => shellWord(`${word.replaceAll(':', '\\:')}:${help}`))
    return `    ${shellWord(path)}) offers=(${described.join(' ')}) ;;`
  }),
  '  esac',
  '  _describe baton offers || _files',
  '}',
  'compdef _baton baton',
]

const fish = (places: readonly Place[]): readonly string[] => [
  '# Completion of baton for fish. Use it with: baton completion fish | source',
  'function __baton_place',
  "  set -l place ''",
  '  for word in (commandline -opc)[2..-1]',
  '    switch "$place $word"',
  `      case ${steps(places).replaceAll('|', ' ')}`,
  '        set place (string trim -- "$place $word")',
  '    end',
  '  end',
  '  test "$place" = "$argv[1]"',
  'end',
  'complete -c baton -f',
  ...places.flatMap(({ path, words, flags }) => {
    const at = `complete -c baton -n ${shellWord(`__baton_place ${shellWord(path)}`)}`
    return [
      ...words.map(({ word, help }) => `${at} -a ${shellWord(word)} -d ${shellWord(help)}`),
      ...flags.map(([name, flag]) => `${at} -l ${name} -d ${shellWord(flag.help)}${fishValue(flag)}`),
    ]
  }),
]

const fishValue = ({ value, words, isValueOptional }: Flag): string => {
  if (value === undefined || isValueOptional) return ''
  if (words !== undefined) return ` -x -a ${shellWord(words.join(' '))}`
  return FILES.includes(value) ? ' -r -F' : ' -x'
}

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => readonly string[]>> = { bash, zsh, fish }

/** Prints a script that completes commands and flags in a shell. */
export const completion: Run = async ({ positionals: [word], out }) => {
  if (word === undefined) throw new UsageError(`Say for which shell: ${SHELLS.join(', ')}.`)
  out.line(renderCompletion(parsedAs('The shell', word, wordFlag(SHELLS)), { commands: CLI_COMMANDS, groups: GROUPS }))
}
