import { RUN_SERVER } from '../kernel/tool-servers.ts'

/** Said after the continuation of an agent that has the tool: outside of every fence, because these words are ours. */
export const LOOK_BACK_NOTE =
  `What is left out above is on record: the tool \`look_back\` of the MCP server \`${RUN_SERVER}\` finds it in the earlier windows of ` +
  'this conversation, by a cited call such as [call:id], a turn, a file name or words.'
