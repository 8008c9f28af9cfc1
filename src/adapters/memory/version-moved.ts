/** Thrown inside a commit when a version has moved on; never leaves the store. */
export class VersionMoved extends Error {
  override readonly name = 'VersionMoved'
}
