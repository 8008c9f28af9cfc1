/**
 * Whether the agent of a terminal session runs on this machine: its process is there, it is gone, it was on another
 * machine, or nobody has noted one.
 */
export type AgentPresence = 'live' | 'gone' | 'elsewhere' | 'unknown'
