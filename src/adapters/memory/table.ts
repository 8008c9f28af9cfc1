/** Thrown inside a commit when somebody already has a place that only one can have; never leaves the store. */
export class PlaceTaken extends Error {
  override readonly name = 'PlaceTaken'
}

/** How a table finds its rows. A key of `undefined` means the row has no such place, or is in no such group. */
export interface Keys<Row, Unique extends string, Group extends string> {
  readonly id: (row: Row) => string
  readonly unique: Readonly<Record<Unique, (row: Row) => string | undefined>>
  readonly groups: Readonly<Record<Group, (row: Row) => string | undefined>>
}

/** Puts back what a change replaced. */
export type Undo = () => void

/** Rows by id, with places only one row can have and groups many can share. Each change says how to undo it. */
export class Table<Row, Unique extends string = never, Group extends string = never> {
  readonly #keys: Keys<Row, Unique, Group>
  readonly #rows = new Map<string, Row>()
  readonly #places = new Map<string, string>()
  readonly #groups = new Map<string, string[]>()

  constructor(keys: Keys<Row, Unique, Group>) {
    this.#keys = keys
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  /** The ids of all rows. */
  ids(): readonly string[] {
    return [...this.#rows.keys()]
  }

  at(place: Unique, key: string): Row | undefined {
    const id = this.#places.get(`${place}:${key}`)
    return id === undefined ? undefined : this.#rows.get(id)
  }

  /** The rows of a group, in the order they came. */
  in(group: Group, key: string): readonly Row[] {
    return (this.#groups.get(`${group}:${key}`) ?? []).flatMap((id) => this.#rows.get(id) ?? [])
  }

  count(group: Group, key: string): number {
    return this.#groups.get(`${group}:${key}`)?.length ?? 0
  }

  insert(row: Row): Undo {
    if (this.#rows.has(this.#keys.id(row))) throw new PlaceTaken(`id ${this.#keys.id(row)}`)
    return this.#swap(undefined, row)
  }

  replace(row: Row): Undo {
    return this.#swap(this.#rows.get(this.#keys.id(row)), row)
  }

  /** Takes away a row that is there. */
  remove(id: string): Undo {
    return this.#swap(this.#rows.get(id), undefined)
  }

  #swap(before: Row | undefined, after: Row | undefined): Undo {
    const undo = [this.#movePlaces(before, after), this.#moveGroups(before, after), this.#put(before, after)]
    return () => {
      for (const step of undo.reverse()) step()
    }
  }

  #put(before: Row | undefined, after: Row | undefined): Undo {
    const id = this.#keys.id((after ?? before) as Row)
    const set = (row: Row | undefined): unknown => (row === undefined ? this.#rows.delete(id) : this.#rows.set(id, row))
    set(after)
    return () => void set(before)
  }

  #movePlaces(before: Row | undefined, after: Row | undefined): Undo {
    const [left, taken] = [this.#placesOf(before), this.#placesOf(after)]
    const occupied = taken.find((place) => this.#places.has(place) && !left.includes(place))
    if (occupied !== undefined) throw new PlaceTaken(occupied)
    const write = (remove: readonly string[], add: readonly string[], row: Row | undefined): void => {
      for (const place of remove) this.#places.delete(place)
      for (const place of add) this.#places.set(place, this.#keys.id(row as Row))
    }
    write(left, taken, after)
    return () => write(taken, left, before)
  }

  #moveGroups(before: Row | undefined, after: Row | undefined): Undo {
    const [left, joined] = [this.#groupsOf(before), this.#groupsOf(after)]
    const id = this.#keys.id((after ?? before) as Row)
    const leave = left.filter((group) => !joined.includes(group))
    const join = joined.filter((group) => !left.includes(group))
    const write = (remove: readonly string[], add: readonly string[]): void => {
      for (const group of remove)
        this.#groups.set(
          group,
          (this.#groups.get(group) ?? []).filter((other) => other !== id),
        )
      for (const group of add) {
        const members = this.#groups.get(group)
        if (members === undefined) this.#groups.set(group, [id])
        else members.push(id)
      }
    }
    write(leave, join)
    return () => write(join, leave)
  }

  #placesOf(row: Row | undefined): readonly string[] {
    return row === undefined ? [] : named(this.#keys.unique, row)
  }

  #groupsOf(row: Row | undefined): readonly string[] {
    return row === undefined ? [] : named(this.#keys.groups, row)
  }
}

const named = <Row>(keys: Readonly<Record<string, (row: Row) => string | undefined>>, row: Row): readonly string[] =>
  Object.entries(keys).flatMap(([name, key]) => {
    const value = key(row)
    return value === undefined ? [] : [`${name}:${value}`]
  })

/** Thrown inside a commit when a version has moved on; never leaves the store. */
export class VersionMoved extends Error {
  override readonly name = 'VersionMoved'
}
