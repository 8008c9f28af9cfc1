import type { WindowEvent } from '../../domain/window/window-event.ts'
import type { Environment } from '../system/environment.ts'
import type { TranscriptFork } from '../terminal/terminal-files.ts'
import type { AgentRuntime } from './agent-runtime.ts'
import type { Summarizer } from './summarizer.ts'
import type { WindowReader } from './window-reader.ts'

/**
 * Every fact about one agent: what it is called, what runs it, what reads it, and how it behaves in a terminal. An adapter
 * has one such record in its `vendor.ts`, and `src/main/runtimes.ts` lists them; nothing else knows an agent by its name.
 *
 * A hook loads the records at every turn of somebody's session, so a record is plain data: code is imported when it is
 * called.
 */
export interface AgentVendor {
  /** Its word on our command line. The backends of its sessions begin with it. */
  readonly name: string
  /** Who answers, by OpenTelemetry's name for them. */
  readonly provider: string
  /** The memory file that it reads, and one beside it that a repository does not keep by habit, if it reads one. */
  readonly memoryFiles: AgentMemoryFiles
  /** The ways to run it, by the words of `--runtime`. */
  readonly runtimes: Readonly<Record<string, VendorRuntime>>
  /** The formats of its readers, in the order of `readers`. */
  readonly formats: readonly string[]
  /** The readers of what it writes, the most particular first. */
  readonly readers: () => Promise<readonly WindowReader[]>
  /** Writes summaries, where it can be asked for a single answer; of the usual model unless one is named. */
  readonly summarizer?: (model?: string) => Promise<Summarizer>
  /** Its terminal sessions, where they can be followed through hooks. */
  readonly terminal?: TerminalFacts
}

/** The memory files of an agent. */
export interface AgentMemoryFiles {
  readonly file: string
  readonly untracked?: string
}

/** One way to run an agent. */
export interface VendorRuntime {
  /** The backend that its sessions name. */
  readonly backend: string
  /** Another name by which people know it. */
  readonly otherName?: string
  readonly needs: RuntimeNeeds
  /** Its words for what an agent may do without asking; a mode that allows more stands later. */
  readonly permissionModes: readonly string[]
  /** Whether another program can be named in the place of the usual one. */
  readonly takesCommand: boolean
  /** Whether it can be told not to compact by itself. */
  readonly takesAutoCompact: boolean
  readonly make: (choices: RuntimeChoices) => Promise<AgentRuntime>
}

/** A package or a program that must be installed for a runtime. */
export interface RuntimeNeeds {
  readonly packageName?: string
  /** The program, unless another one is named; beside a package it is the program that the package starts. */
  readonly command?: string
}

/** Options of a runtime that is chosen by name; each runtime takes the ones it knows. */
export interface RuntimeChoices {
  readonly model?: string
  /** The program to run, where it is not the usual one. */
  readonly command?: string
  readonly permissionMode?: string
  /** Whether the runtime may make room by itself; it may unless this is false. */
  readonly autoCompact?: boolean
  /** The environment of what is run. */
  readonly environment?: Environment
}

/** An agent in a terminal: a person works with it, and its hooks tell us. */
export interface TerminalFacts {
  /** The agent that its sessions are kept as. */
  readonly agentName: string
  readonly backend: string
  /** Its hooks that are answered, each with the word after `baton hook`. */
  readonly hooks: Readonly<Record<string, string>>
  /** Why no status line of ours is drawn in it, where none can be. */
  readonly noStatusLine?: string
  readonly adviceWhenFull: {
    /** For the person, in few words: it stands beside the level. */
    readonly short: string
    /** For the agent: what the person can do. */
    readonly person: string
  }
  /** Whether it names the session beside every call of a tool; else the process or a variable tells. */
  readonly namesSessionInCalls: boolean
  /** The variables that it gives to its hooks and tools. */
  readonly variables: {
    /** The session that a program is started in, for its tools. After `/clear` it may be an old one. */
    readonly session?: string
    /** The id of the agent's process. */
    readonly process?: string
    /** The folder of the session's project. */
    readonly projectFolder?: string
    /** A file of shell commands that its tools are started with. */
    readonly toolSettings?: string
  }
  readonly window?: TerminalWindow
  readonly transcripts: {
    /** The folder below which it keeps them. */
    readonly folder: (environment: Environment) => string
    readonly reader: () => Promise<WindowReader>
    /** The sessions that a transcript may be a fork of, the likeliest first. */
    readonly forkOf: (path: string) => Promise<readonly TranscriptFork[]>
  }
  /** Reads the input of its status line. */
  readonly statusLineReader?: () => Promise<WindowReader>
  /** Where its hooks and servers are named, where `baton NAME install` puts them there: the doctor looks at them. */
  readonly settings?: () => Promise<TerminalSettings>
}

/** Where the settings of terminal agents are looked for. */
export interface SettingsPlace {
  readonly environment: Environment
  readonly workingFolder: string
}

/** A list of MCP servers in a file: JSON, or TOML where its name says so. */
export interface ToolServerList {
  readonly file: string
  /** The way to the list in the file. */
  readonly list: readonly string[]
}

/** The files in which a terminal agent looks for hooks and MCP servers. */
export interface TerminalSettings {
  /** The agent's name as people know it. */
  readonly title: string
  /** The files that name hooks; each wins over those before it. */
  readonly hookFiles: (place: SettingsPlace) => readonly string[]
  readonly serverLists: (place: SettingsPlace) => readonly ToolServerList[]
  /** The agent's own command that takes out an MCP server; the name of the server follows. */
  readonly removeServer: string
}

/** How a terminal agent says where it compacts by itself: in no event, but in variables and files. */
export interface TerminalWindow {
  /** The variables that say something about it, and no others; `folder` is where the session works. */
  readonly variables: (environment: Environment, folder: string | undefined) => Readonly<Record<string, string>>
  readonly known: (variables: Environment) => readonly WindowEvent[]
}

/** A terminal agent with its name and its memory files. */
export interface TerminalAgent extends TerminalFacts {
  readonly name: string
  readonly memoryFiles: AgentMemoryFiles
}
