import type { CliCommand } from '../command.ts'
import { demo } from './demo.ts'

/** Every command by its words, in the order help lists them. */
export const COMMANDS: Readonly<Record<string, CliCommand>> = {
  demo,
}
