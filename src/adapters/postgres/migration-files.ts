import { readdir, readFile } from 'node:fs/promises'
import { quoted } from './database.ts'

/** The numbered SQL files, beside the program wherever it is installed. */
const FOLDER = new URL('../../../migrations/', import.meta.url)

/** One change of the schema, and how to undo it. */
export interface Migration {
  readonly name: string
  readonly up: string
  readonly down: string
}

/** All changes in order. The files are written for the schema `batonpass`; another name is put in its place. */
export const readMigrations = async (schema: string): Promise<readonly Migration[]> => {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql') && !file.endsWith('.down.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const name = file.slice(0, -'.sql'.length)
      const [up, down] = await Promise.all([readSql(file, schema), readSql(`${name}.down.sql`, schema)])
      return { name, up, down }
    }),
  )
}

const readSql = async (file: string, schema: string): Promise<string> =>
  (await readFile(new URL(file, FOLDER), 'utf8')).replaceAll(/\bbatonpass\./g, `${quoted(schema)}.`)
