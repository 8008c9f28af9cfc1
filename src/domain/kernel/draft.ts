import { type Ok, ok, type Result } from './result.ts'

/** One thing on a draft: as it was first read, as the decision leaves it, and what happened to it between. */
export interface Drafted<State, Event> {
  /** Absent when this decision began it. */
  readonly first?: State
  readonly now: State
  readonly events: readonly Event[]
  /** Everything else is kept only while this is still as it was first read. */
  readonly isGuarded: boolean
}

/** One kind of thing that decisions change. */
export interface Aggregate<State, Event, Change> {
  readonly keyOf: (state: State) => string
  /** The changes that keep it, guarded by what it was first read as. */
  readonly changesOf: (drafted: Drafted<State, Event>) => readonly Change[]
}

/** A kind of thing that begins with an event, which says all of it. */
export interface Begins<State, Begun> {
  readonly begin: (event: Begun) => State
}

/** A kind of thing with a life: each command is decided, and what it becomes follows from the event. */
export interface Lifecycle<State, Begun, Moved, Command, Refusal, Change>
  extends Aggregate<State, Begun | Moved, Change>,
    Begins<State, Begun> {
  readonly decide: (state: State, command: Command) => Result<Moved, Refusal>
  readonly evolve: (state: State, event: Moved) => State
}

/** Everything that one decision wants kept, and what it answers. */
export interface FinishedDraft<Event, Change, Answer> {
  readonly changes: readonly Change[]
  readonly events: readonly Event[]
  readonly answer: Answer
}

/**
 * A decision in the making. Each step on it appends the event and remembers what the thing has become, so that the log
 * and the state cannot differ. Finished, it yields one addition or one guarded move for each thing it touched.
 *
 * A thing is named by any copy of it: the first one given counts as read, and later steps continue with what it has become.
 * Nothing is kept of a draft that is not finished, so a refusal needs no undoing.
 */
export class Draft<Event, Change> {
  readonly #events: Event[] = []
  readonly #entries: Entry<Event, Change>[] = []

  /** The thing as this decision has left it so far. */
  read<State, E extends Event>(aggregate: Aggregate<State, E, Change>, state: NoInfer<State>): State {
    return this.#find(aggregate, state)?.now ?? state
  }

  /** Keeps everything else only while this thing is still as it was first read. */
  guard<State, E extends Event>(aggregate: Aggregate<State, E, Change>, state: NoInfer<State>): void {
    this.#touch(aggregate, state).isGuarded = true
  }

  /** Begins a thing. */
  begin<State, E extends Event, Begun extends E>(
    aggregate: Aggregate<State, E, Change> & Begins<State, Begun>,
    event: NoInfer<Begun>,
  ): State {
    const state = aggregate.begin(event)
    this.add(aggregate, state, event)
    return state
  }

  /** Decides a command; a yes is recorded at once. */
  apply<State, Begun extends Event, Moved extends Event, Command, Refusal>(
    lifecycle: Lifecycle<State, Begun, Moved, Command, Refusal, Change>,
    state: NoInfer<State>,
    command: NoInfer<Command>,
  ): Result<State, Refusal> {
    const decided = lifecycle.decide(this.read(lifecycle, state), command)
    return decided.ok ? ok(this.record(lifecycle, state, decided.value)) : decided
  }

  /** Records an event that was decided before, or that no rule speaks against. */
  record<State, Begun extends Event, Moved extends Event, Command, Refusal>(
    lifecycle: Lifecycle<State, Begun, Moved, Command, Refusal, Change>,
    state: NoInfer<State>,
    event: NoInfer<Moved>,
  ): State {
    return this.move(lifecycle, state, lifecycle.evolve(this.read(lifecycle, state), event), event)
  }

  /** Adds a thing whose beginning no event tells. */
  add<State, E extends Event>(
    aggregate: Aggregate<State, E, Change>,
    state: NoInfer<State>,
    ...events: readonly NoInfer<E>[]
  ): void {
    const entry: TypedEntry<State, E, Change> = { aggregate, now: state, events: [...events], isGuarded: false }
    this.#entries.push(entry as unknown as Entry<Event, Change>)
    this.#events.push(...events)
  }

  /** Moves a thing to a state that events alone do not tell: a reading is no event, and no token is logged. */
  move<State, E extends Event>(
    aggregate: Aggregate<State, E, Change>,
    before: NoInfer<State>,
    after: NoInfer<State>,
    ...events: readonly NoInfer<E>[]
  ): State {
    const entry = this.#touch(aggregate, before)
    entry.now = after
    entry.events.push(...events)
    this.#events.push(...events)
    return after
  }

  /** Logs events that change nothing. */
  log(...events: readonly Event[]): void {
    this.#events.push(...events)
  }

  /** Asks for something beside the things themselves: a guard, a lease, a signal. */
  effect(...changes: readonly Change[]): void {
    for (const change of changes) this.#entries.push({ change })
  }

  /** Everything to keep, in the order in which it was first touched, and what to answer. */
  finish<Answer>(answer: Answer): Ok<FinishedDraft<Event, Change, Answer>> {
    const changes = this.#entries.flatMap((entry) =>
      'change' in entry ? [entry.change] : entry.aggregate.changesOf(entry),
    )
    return ok({ changes, events: [...this.#events], answer })
  }

  #touch<State, E extends Event>(aggregate: Aggregate<State, E, Change>, state: State): TypedEntry<State, E, Change> {
    const found = this.#find(aggregate, state)
    if (found !== undefined) return found
    const entry: TypedEntry<State, E, Change> = { aggregate, first: state, now: state, events: [], isGuarded: false }
    this.#entries.push(entry as unknown as Entry<Event, Change>)
    return entry
  }

  #find<State, E extends Event>(
    aggregate: Aggregate<State, E, Change>,
    state: State,
  ): TypedEntry<State, E, Change> | undefined {
    const key = aggregate.keyOf(state)
    // An entry of this very aggregate holds its states and events, which the list of all of them cannot say.
    const entries = this.#entries as unknown as readonly Partial<TypedEntry<State, E, Change>>[]
    return entries.find(
      (entry): entry is TypedEntry<State, E, Change> =>
        entry.aggregate === aggregate && entry.now !== undefined && aggregate.keyOf(entry.now) === key,
    )
  }
}

interface TypedEntry<State, Event, Change> {
  readonly aggregate: Aggregate<State, Event, Change>
  readonly first?: State
  now: State
  readonly events: Event[]
  isGuarded: boolean
}

type Entry<Event, Change> = TypedEntry<unknown, Event, Change> | { readonly change: Change }
