import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import { quoted } from '../../processes/quoted.ts'

const LONGEST = 16_384

/**
 * The address of a server from a file of one line, so that neither the environment nor the command line has it. As
 * libpq does with password files, a file that others may read is refused: they may have the password already.
 *
 * @throws StoreFailure `store.bad_address`, without what is in the file
 */
export const addressIn = (path: string): string => {
  const lines = textOf(path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const [address, ...more] = lines
  if (address === undefined) throw bad(path, 'is empty. Write the address of the server into it')
  if (more.length > 0) throw bad(path, 'has more than one line. Leave the address in it, and nothing else')
  return address
}

const textOf = (path: string): string => {
  try {
    // A pipe or a device is not waited for: it is no file, and is refused below.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    try {
      // What is checked is what is read, whatever the name leads to a moment later.
      const found = fstatSync(file)
      if (!found.isFile()) throw bad(path, 'is no file')
      if (process.getuid !== undefined && (found.mode & 0o077) !== 0)
        throw bad(path, `is open to other users (mode ${(found.mode & 0o777).toString(8)}): chmod 600 ${quoted(path)}`)
      if (found.size > LONGEST) throw bad(path, 'is too long for an address')
      return readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof StoreFailure) throw error
    throw bad(path, `cannot be read (${describeThrown(error)})`, { cause: error })
  }
}

const bad = (path: string, problem: string, options?: ErrorOptions): StoreFailure =>
  new StoreFailure('store.bad_address', `The file ${path} with the address of the Postgres server ${problem}.`, options)
