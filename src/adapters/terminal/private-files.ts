import { dirname } from 'node:path'
import { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { codeOf, NotOwn, ownFolder, readOwnFile } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'

/** A document of a megabyte may grow to this when it is put into JSON. */
const MOST_BYTES = 9 * 1024 * 1024

/** A schema for every property of an interface, the optional ones too. */
type ShapeOf<T> = { readonly [K in keyof T]-?: z.ZodType<ValueOf<T, K>> }

type ValueOf<T, K extends keyof T> = object extends Pick<T, K> ? T[K] | undefined : T[K]

/** The schema of a file, which has every property of the interface that it is read into: a forgotten one does not compile. */
export const privateFileSchema =
  <T extends object>() =>
  <S extends ShapeOf<T>>(shape: S & { readonly [K in Exclude<keyof S, keyof T>]: never }): z.ZodType<T> =>
    z.object(shape as z.ZodRawShape).transform((read) => defined(read) as T)

/** Makes a folder for its owner only, or looks whether it is one. @throws NotOwn where another user could write to it */
export const privateFolder = async (path: string): Promise<void> => ownFolder(path)

/** The JSON of a file of ours, read as its schema has it. A file that is damaged, or that is no file of this user, is as good as none. */
export const readPrivate = <T extends z.ZodType>(path: string, schema: T): z.output<T> | undefined => {
  try {
    const text = readOwnFile(path, MOST_BYTES)
    return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof NotOwn) return undefined
    throw error
  }
}

/** Replaces a file, for its owner only: a reader finds the old one or the new one, whole. */
export const replacePrivateFile = async (path: string, text: string): Promise<void> => {
  try {
    writeWhole(path, text)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    // The folder was taken away while we ran.
    await privateFolder(dirname(path))
    writeWhole(path, text)
  }
}
