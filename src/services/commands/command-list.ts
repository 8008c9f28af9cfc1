import * as contexts from './context-commands.ts'
import * as conversations from './conversation-commands.ts'
import * as handoffs from './handoff-commands.ts'
import * as restarts from './restart-commands.ts'
import * as sessions from './session-commands.ts'
import * as turns from './turn-commands.ts'

/** Every command of the services, by the name of its method: the files of definitions export nothing else. */
export const COMMANDS = { ...conversations, ...sessions, ...turns, ...handoffs, ...restarts, ...contexts } as const
