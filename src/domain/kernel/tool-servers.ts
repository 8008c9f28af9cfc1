/** The MCP server that `baton claude install` and `baton codex install` put into a person's settings. */
export const INSTALLED_SERVER = 'baton'

/**
 * The MCP server of a run, for the agent that it has launched. It has a name of its own: settings are merged by name, and
 * a server that is started by a command cannot have an address as well.
 */
export const RUN_SERVER = 'baton_run'
