/**
 * What stands between a shape we read and the type a package declares, as sentences; `never` when nothing does.
 *
 * We read less than there is, so what they add is no difference. What we read must be there, be it optional for us
 * or not, and must be nothing that our schema would refuse. Of a union, some member must have what is optional for us.
 */
export type Differences<Ours, Theirs, Path extends string> =
  IsAny<Theirs> extends true
    ? `${Path} is any: a type was not found`
    : unknown extends Ours
      ? never
      : [Extract<Theirs, null | undefined>] extends [Ours]
        ? InParts<NonNullable<Ours>, NonNullable<Theirs>, Path>
        : `${Path} is not always there`

type InParts<Ours, Theirs, Path extends string> = [Ours] extends [readonly (infer Our)[]]
  ? [Theirs] extends [readonly (infer Their)[]]
    ? Differences<Our, Their, `${Path}[]`>
    : `${Path} is no list`
  : [Ours] extends [object]
    ? [Theirs] extends [object]
      ? { [Key in NamedKeys<Ours>]-?: OfKey<Ours[Key], Theirs, Key, Path> }[NamedKeys<Ours>]
      : `${Path} is no object`
    : [Theirs] extends [Ours]
      ? never
      : `${Path} has another type`

type OfKey<Our, Theirs, Key extends string, Path extends string> =
  Key extends KeysOf<Theirs> ? Differences<Our, ValueOf<Theirs, Key>, `${Path}.${Key}`> : `${Path}.${Key} is not there`

/** The keys a schema names; loose objects let any others through. */
type NamedKeys<T> = keyof { [Key in keyof T as Key extends string ? (string extends Key ? never : Key) : never]: 1 } &
  keyof T &
  string

/** The keys of any member. */
type KeysOf<T> = T extends unknown ? keyof T : never

/** What the members have under a key, and `undefined` if one has nothing. */
type ValueOf<T, Key extends string> = T extends unknown ? (Key extends keyof T ? T[Key] : undefined) : never

type IsAny<T> = 0 extends 1 & T ? true : false

/** Compiles for `never` only; otherwise the compiler prints what was given. */
export type None<Found extends never> = Found
