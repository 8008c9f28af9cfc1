/** A lifecycle: for each state, the commands it takes and where each leads. */
export type TransitionTable<State extends string, Command extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Command, State>>>>
>

/** Where a command leads from a state, or `undefined` when the table has no such cell. */
export const nextState = <State extends string, Command extends string>(
  table: TransitionTable<State, Command>,
  from: State,
  command: Command,
): State | undefined => table[from][command]

/** The states of a lifecycle, in the order of the table. */
export const statesOf = <State extends string>(table: Readonly<Record<State, unknown>>): readonly State[] =>
  Object.keys(table) as State[]

/**
 * The states nothing leads out of: those with an empty row. Derived, so that they are never listed twice.
 *
 * @example
 * ```ts
 * console.log(terminalStates(HANDOFF_TRANSITIONS).join(', ')) // => completed, cancelled, failed
 * ```
 */
export const terminalStates = <State extends string, Command extends string>(
  table: TransitionTable<State, Command>,
): readonly State[] => statesOf(table).filter((state) => Object.keys(table[state]).length === 0)

/**
 * The lifecycle as a Mermaid state diagram.
 *
 * @example
 * ```ts
 * const door = { open: { shut: 'closed' }, closed: {} } as const
 * console.log(toMermaid(door, 'open').split('\n')[2]?.trim()) // => open --> closed: shut
 * ```
 */
export const toMermaid = <State extends string, Command extends string>(
  table: TransitionTable<State, Command>,
  initial: State,
): string => {
  const arrows = statesOf(table).flatMap((from) =>
    Object.entries<State | undefined>(table[from]).map(([command, to]) => `  ${from} --> ${to}: ${command}`),
  )
  const ends = terminalStates(table).map((state) => `  ${state} --> [*]`)
  return ['stateDiagram-v2', `  [*] --> ${initial}`, ...arrows, ...ends].join('\n')
}
